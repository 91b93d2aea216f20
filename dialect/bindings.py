"""The MLIR Python bindings that this process uses, under one name.

The same modules ship under several package names. The package is the one that `MLIR_SMEM_BINDINGS`
names; without it, the one that the host process has already imported, so that contexts and ops can be
shared with it; else the installed one. What differs between packages is in this file, and is told by what
they define: the package `mlir` can be of any version.
"""

import importlib
import importlib.util
import inspect
import os
import re
import sys
from typing import Any

#: Packages that contain the complete upstream bindings, in the order of choice. `numba_cuda_mlir` is the
#: last, because it is imported with the whole of the package around its bindings.
PACKAGES = ("mlir", "torch_mlir", "numba_cuda_mlir._mlir")


def _package() -> str:
    named = os.environ.get("MLIR_SMEM_BINDINGS")
    if named:
        if not _exists(named):
            raise ImportError(
                f"MLIR_SMEM_BINDINGS names the package '{named}', which is not installed"
            )
        if not _exists(f"{named}.ir"):
            raise ImportError(
                f"MLIR_SMEM_BINDINGS names the package '{named}', which holds no MLIR bindings"
            )
        return named
    for name in PACKAGES:
        if f"{name}.ir" in sys.modules:
            return name
    for name in PACKAGES:
        # The registry has empty placeholder packages under some of these names.
        if _exists(name) and _exists(f"{name}.ir"):
            return name
    raise ImportError(
        "no MLIR Python bindings found; install torch-mlir or numba-cuda-mlir, or name a package in "
        "MLIR_SMEM_BINDINGS"
    )


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):
        return False


#: The name of the package in use.
PACKAGE = _package()


def _module(name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.{name}")


ir: Any = _module("ir")
passmanager: Any = _module("passmanager")
ext: Any = _module("dialects.ext")
arith: Any = _module("dialects.arith")
gpu: Any = _module("dialects.gpu")
llvm: Any = _module("dialects.llvm")
math: Any = _module("dialects.math")
memref: Any = _module("dialects.memref")
nvvm: Any = _module("dialects.nvvm")
scf: Any = _module("dialects.scf")

#: `nvvm.barrier` at the start of a line, with nothing but its operands.
_BARRIER = re.compile(
    r"^(?P<indent>[ \t]*)nvvm\.barrier(?P<id>[ \t]+id[ \t]*=[ \t]*(?P<of>%[\w$.#-]+))?"
    r"(?P<count>[ \t]+number_of_threads[ \t]*=[ \t]*(?P<threads>%[\w$.#-]+))?"
    r"(?![ \t]*(?:[#{=%.:]|->|(?!loc\()\w))",
    re.M,
)


def readable(text: str) -> str:
    """Return MLIR text as the parser of the bindings reads it; lines stay where they are.

    LLVM 23 takes a location or an op in quotes after `nvvm.barrier` as the barrier's reduction, which has
    an op of its own in LLVM 24. Such a barrier gets its generic form.
    """
    reduces = len(nvvm.BarrierOp._ODS_OPERAND_SEGMENTS) == 3
    return _BARRIER.sub(_generic_barrier, text) if reduces else text


def _generic_barrier(found: re.Match[str]) -> str:
    operands = [operand for operand in (found["of"], found["threads"]) if operand]
    segments = f"{int(bool(found['of']))}, {int(bool(found['threads']))}, 0"
    types = ", ".join(["i32"] * len(operands))
    return (
        f'{found["indent"]}"nvvm.barrier"({", ".join(operands)}) '
        f"<{{operandSegmentSizes = array<i32: {segments}>}}> : ({types}) -> ()"
    )


def is_dialect_loaded(context: Any, name: str) -> bool:
    """Return whether a dialect is loaded in a context; the dialect is not one of the bindings' own."""
    if hasattr(context, "is_dialect_loaded"):
        return context.is_dialect_loaded(name)
    try:
        # It looks among the loaded dialects and those of the bindings (LLVM 23).
        context.get_dialect_descriptor(name)
    except ValueError:
        return False
    return True


def load_dialect(dialect: Any) -> None:
    """Load a dialect that is defined in Python into the current context, where it is not loaded yet."""
    if "reload" in inspect.signature(dialect.load).parameters:
        # Without it, LLVM 23 loads a dialect into one context only.
        dialect.load(reload=True)
    else:
        dialect.load()
