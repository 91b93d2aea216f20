"""mlir-smem: tiles in GPU shared memory for MLIR.

    mlir_smem.register(context)                          # the dialect, in a host's context
    mlir_smem.add_passes(pm, "smem-to-nvvm")             # the lowering, in a host's pass manager
    mlir_smem.compile(module_or_text, arch="sm_90a")     # the whole way to a cubin

`mlir_smem.layout` needs no MLIR; the rest loads the bindings when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .codegen import Compiled, compile
    from .dialect import register
    from .passes import add_passes, add_pipeline

__all__ = ["Compiled", "add_passes", "add_pipeline", "compile", "register"]

_HOME = {
    "Compiled": "codegen",
    "add_passes": "passes",
    "add_pipeline": "passes",
    "compile": "codegen",
    "register": "dialect",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOME[name]}", __name__), name)
