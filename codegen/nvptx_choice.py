"""The LLVM that writes PTX: that of the bindings where it can, else llvmlite's."""

from functools import cache

from .errors import CompileError
from .nvptx import Nvptx
from .nvptx_of_bindings import BindingsNvptx, has_nvptx


@cache
def nvptx_for(bindings: str) -> Nvptx:
    """Return the LLVM that writes PTX of a module of bindings.

    Args:
        bindings: the name of the bindings' package.

    Raises:
        CompileError: if the bindings have no NVPTX target, and llvmlite is not installed.
    """
    if has_nvptx(bindings):
        return BindingsNvptx(bindings)
    try:
        from .nvptx_of_llvmlite import LlvmliteNvptx
    except ImportError:
        raise CompileError(
            f"the LLVM of {bindings} has no NVPTX target, and llvmlite is not installed; install "
            "llvmlite, or use bindings with that target, as numba-cuda-mlir's"
        ) from None
    return LlvmliteNvptx()
