"""The MLIR Python bindings that this process uses, under one name.

Differences between packages are handled in this file. They are detected by what a package defines, since
the package `mlir` can be of any version.
"""

import importlib
import inspect
import re
from io import BytesIO
from typing import Any

from .choice import PACKAGE as PACKAGE


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
    r"^(?P<indent>[ \t]*)nvvm\.barrier(?P<id>[ \t]+id[ \t]*=[ \t]*(?P<barrier>%[\w$.#-]+))?"
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


def _generic_barrier(match: re.Match[str]) -> str:
    operands = [operand for operand in (match["barrier"], match["threads"]) if operand]
    segments = f"{int(bool(match['barrier']))}, {int(bool(match['threads']))}, 0"
    types = ", ".join(["i32"] * len(operands))
    return (
        f'{match["indent"]}"nvvm.barrier"({", ".join(operands)}) '
        f"<{{operandSegmentSizes = array<i32: {segments}>}}> : ({types}) -> ()"
    )


def bytecode_of(module: Any) -> bytes:
    """Return a module, or another op, as MLIR bytecode."""
    buffer = BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def is_dialect_loaded(context: Any, name: str) -> bool:
    """Return whether a dialect is loaded in a context; the dialect is not one of the bindings' own."""
    if hasattr(context, "is_dialect_loaded"):
        return context.is_dialect_loaded(name)
    try:
        # LLVM 23 finds loaded dialects, and those of the bindings.
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
