"""A kernel of the language for given element types and constants: traced, compiled, loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...codegen import Compiled, compile
from ...runtime import Kernel, cached_compile
from ...runtime.devices import architecture, preserve_current_device
from ..diagnosis import run_located
from ..performance import warn_of_code


class Specialisation:
    """A traced kernel, which is compiled when it is first needed for a GPU or the emulator.

    Args:
        module: the traced kernel, an `ir.Module`.
        lowering: options of `compile`.
        function: the kernel's Python function.
    """

    def __init__(
        self, module: Any, lowering: Mapping[str, Any], function: Callable[..., Any]
    ) -> None:
        self._function = function
        self._module = module
        self._lowering = lowering
        self._kernels: dict[int, Kernel] = {}
        self._emulated: dict[str, Compiled] = {}

    def on_gpu(self, device: int) -> Kernel:
        """Return the kernel loaded on a GPU; its code is compiled once, and cached on disk.

        Raises:
            LaunchError: without a GPU of that number.
        """
        kernel = self._kernels.get(device)
        if kernel is None:
            arch = architecture(device)
            module = self._module
            compiled = run_located(lambda: cached_compile(module, arch, **self._lowering), module)
            warn_of_code(self._function, compiled.report)
            with preserve_current_device():
                kernel = self._kernels[device] = Kernel(compiled, device=device)
        return kernel

    def on_emulator(self, arch: str) -> Compiled:
        """Return the kernel compiled for the emulator."""
        compiled = self._emulated.get(arch)
        if compiled is None:
            compiled = self._emulated[arch] = run_located(
                lambda: compile(self._module, arch, "nvvm", **self._lowering), self._module
            )
        return compiled
