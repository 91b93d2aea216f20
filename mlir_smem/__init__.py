"""mlir-smem: tiles in GPU shared memory for MLIR.

    mlir_smem.register(context)                          # the dialect, in a host's context
    mlir_smem.add_passes(pm, "smem-to-nvvm")             # the lowering, in a host's pass manager
    mlir_smem.compile(module_or_text, arch="sm_90a")     # the whole way to a cubin

Nothing is loaded before it is used: `register` loads `dialect` and `layout`, `add_passes` loads
`ir` and `passes`, and each other folder comes when it is asked for. `mlir_smem.layout` needs no MLIR.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .codegen import Compiled, compile
    from .dialect import register
    from .passes import add_passes, add_pipeline

__all__ = ["Compiled", "add_passes", "add_pipeline", "compile", "register"]

#: The folders, each a subpackage.
_FOLDERS = (
    "advisor",
    "codegen",
    "dialect",
    "emulator",
    "ir",
    "kernels",
    "layout",
    "passes",
    "runtime",
    "tools",
)

#: The functions and classes here, and the folder that each is from.
_HOME = {
    "Compiled": "codegen",
    "add_passes": "passes",
    "add_pipeline": "passes",
    "compile": "codegen",
    "register": "dialect",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _FOLDERS:
        return import_module(f".{name}", __name__)
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    there = ", ".join((*__all__, *_FOLDERS))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {there}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FOLDERS})
