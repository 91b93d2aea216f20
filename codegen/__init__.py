"""From an NVVM module to LLVM IR, PTX and cubin, and the kernel's manifest.

Names are imported at their first use: the process that runs LLVM needs a few files of this folder and no
MLIR passes.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiler import DEBUG_INFO, STAGES, Compiled, compile, compile_in_place
    from .errors import CompileError
    from .manifest import is_manifest
    from .ptxas import Report
    from .versions import toolchain

__all__ = [
    "DEBUG_INFO",
    "STAGES",
    "CompileError",
    "Compiled",
    "Report",
    "compile",
    "compile_in_place",
    "is_manifest",
    "toolchain",
]

#: The file that defines each name.
_DEFINED_IN = {
    "DEBUG_INFO": "compiler",
    "STAGES": "compiler",
    "CompileError": "errors",
    "Compiled": "compiler",
    "Report": "ptxas",
    "compile": "compiler",
    "compile_in_place": "compiler",
    "is_manifest": "manifest",
    "toolchain": "versions",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
