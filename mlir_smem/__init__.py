"""mlir-smem: tiles in GPU shared memory for MLIR.

    mlir_smem.register(context)                          # load the dialect into a context
    mlir_smem.add_passes(pm, "smem-to-nvvm")             # add the lowering to a pass manager
    mlir_smem.parse_pipeline("builtin.module(...)")      # a pass manager of ours and upstream's
    mlir_smem.compile(module_or_text, arch="sm_90a")     # compile a module to a cubin
    mlir_smem.lower_text(text_or_bytecode)               # text in, text out, for any host
    mlir_smem.from_torch(module, *example_inputs)        # a model as an executable; also from_jax

Subpackages are imported on first use: `register` imports `dialect` and `layout`, `add_passes` imports
`ir` and `passes`. `mlir_smem.layout` needs no MLIR.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .codegen import Compiled, compile
    from .dialect import coordinates_of, layout_of, register
    from .frontend import from_jax, from_torch
    from .interop import lower_text
    from .passes import add_passes, parse_pipeline

    #: The version of this package, for example "0.2.0"; `pyproject.toml` has it.
    __version__: str

__all__ = [
    "Compiled",
    "__version__",
    "add_passes",
    "compile",
    "coordinates_of",
    "from_jax",
    "from_torch",
    "layout_of",
    "lower_text",
    "parse_pipeline",
    "register",
]

#: The subpackages.
_FOLDERS = (
    "advisor",
    "bindings",
    "codegen",
    "dialect",
    "emulator",
    "examples",
    "frontend",
    "interop",
    "ir",
    "kernels",
    "language",
    "layout",
    "passes",
    "runtime",
    "tools",
)

#: The functions and classes of this package, and the subpackage that defines each.
_HOME = {
    "Compiled": "codegen",
    "add_passes": "passes",
    "compile": "codegen",
    "coordinates_of": "dialect",
    "from_jax": "frontend",
    "from_torch": "frontend",
    "layout_of": "dialect",
    "lower_text": "interop",
    "parse_pipeline": "passes",
    "register": "dialect",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        from importlib import metadata

        return metadata.version("mlir-smem")
    if name in _FOLDERS:
        return import_module(f".{name}", __name__)
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    there = ", ".join((*__all__, *_FOLDERS))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {there}")


def __dir__() -> list[str]:
    return sorted((*__all__, *_FOLDERS))
