"""The interface of an LLVM with the NVPTX target."""

from pathlib import Path
from typing import Any, Protocol

from .targets import Target

TRIPLE = "nvptx64-nvidia-cuda"


class Nvptx(Protocol):
    """An LLVM with the NVPTX target. It is hashable, and two of the same library are equal."""

    @property
    def name(self) -> str:
        """The package and its version, for example "llvmlite 0.50.0"."""
        ...

    def functions(self, bitcode: bytes) -> dict[str, str]:
        """Return the functions that bitcode defines, with their types in LLVM's notation.

        Raises:
            RuntimeError: if it cannot be read; the message is LLVM's.
        """
        ...

    def ptx(self, kernels: Any, llvm_ir: str, target: Target, library: Path | None) -> str:
        """Return PTX, after LLVM's O3 pipeline.

        Args:
            kernels: the gpu.module; it is erased.
            llvm_ir: the same module as LLVM IR.
            target: the architecture.
            library: CUDA's libdevice; None if none of its functions is called.

        Raises:
            LLVMRefusal: if LLVM refuses the module.
            CompileError: if the library cannot be linked.
        """
        ...
