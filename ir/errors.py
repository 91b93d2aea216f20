"""Errors at an op."""

from ..bindings.irtypes import Op


class OpError(Exception):
    """An error at an op. The pass fails, and the adapter of the pass manager emits the error at the
    op.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Refuse(Pass):
        ...     name = "refuse"
        ...     description = "refuses every module"
        ...     def run(self, module):
        ...         raise OpError(module, "is refused")
    """

    def __init__(self, op: Op, message: str) -> None:
        super().__init__(message)
        self.op = op
        self.message = message
