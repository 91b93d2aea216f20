"""A kernel of the language for given element types and constants: traced, compiled, loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...codegen import Compiled, compile
from ...runtime import Kernel, cached_compile
from ...runtime.devices import architecture, preserve_current_device
from ..diagnosis import run_located


class Specialisation:
    """A traced kernel, which is compiled when it is first needed for a GPU or the emulator.

    Args:
        module: the traced kernel, an `ir.Module`.
        lowering: options of `compile`.
    """

    def __init__(self, module: Any, lowering: Mapping[str, Any]) -> None:
        self._module = module
        self._lowering = lowering
        self._kernels: dict[int, Kernel] = {}
        self._emulated: dict[str, Compiled] = {}

    def on(self, device: int) -> Kernel:
        """Return the kernel on a GPU; its code is compiled once, and kept on disk.

        Raises:
            LaunchError: without a GPU of that number.
        """
        found = self._kernels.get(device)
        if found is None:
            arch = architecture(device)
            compiled = run_located(lambda: cached_compile(self._module, arch, **self._lowering))
            with preserve_current_device():
                found = self._kernels[device] = Kernel(compiled, device=device)
        return found

    def emulated(self, arch: str) -> Compiled:
        """Return the kernel as the emulator runs it."""
        found = self._emulated.get(arch)
        if found is None:
            found = self._emulated[arch] = run_located(
                lambda: compile(self._module, arch, "nvvm", **self._lowering)
            )
        return found
