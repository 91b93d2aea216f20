"""NVVM module to LLVM IR, PTX and cubin, and the kernel's manifest."""

from .compiler import STAGES, Compiled, compile, compile_in_place
from .errors import CompileError
from .manifest import is_manifest
from .ptxas import Report
from .versions import toolchain

__all__ = [
    "STAGES",
    "CompileError",
    "Compiled",
    "Report",
    "compile",
    "compile_in_place",
    "is_manifest",
    "toolchain",
]
