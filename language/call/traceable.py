"""What a call needs of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..signature import Parameter


class Traceable(Protocol):
    """What a call needs of a kernel.

    Attributes:
        function: the Python function that is traced.
        parameters: by name, in the order of a call.
        constants: of the trace, with their defaults.
        lowering: options of `compile` that the kernel itself needs.
    """

    __name__: str
    function: Callable[..., Any]

    @property
    def parameters(self) -> Mapping[str, Parameter]: ...

    @property
    def constants(self) -> Mapping[str, Any]: ...

    @property
    def lowering(self) -> Mapping[str, Any]: ...

    def trace(self, *types: Any, **constants: Any) -> Any:
        """Return the kernel for element types and constants, as an `ir.Module`."""
        ...
