"""The MLIR Python bindings: the choice of a package, checks before its parser, locations, diagnostics.

    from mlir_smem.bindings import arith, ir     # of the package in use

`mlir` is imported at the first use of a name, because choosing a package needs none of its modules.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .mlir import PACKAGE, arith, gpu, ir, llvm, math, memref, nvvm, passmanager, scf

__all__ = ["PACKAGE", "arith", "gpu", "ir", "llvm", "math", "memref", "nvvm", "passmanager", "scf"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".mlir", __name__), name)


def __dir__() -> list[str]:
    return __all__
