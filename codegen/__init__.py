"""NVVM module to LLVM IR, PTX and cubin, and the kernel's manifest."""

from .compiler import STAGES, Compiled, compile, compile_in_place
from .errors import CompileError
from .ptxas import Report
from .versions import toolchain

__all__ = [
    "STAGES",
    "CompileError",
    "Compiled",
    "Report",
    "compile",
    "compile_in_place",
    "toolchain",
]
