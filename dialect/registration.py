"""Registration of the dialect, in any number of contexts, any number of times."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from . import attributes, ops, types
from .arguments import wrong_argument
from .bindings import PACKAGE, ext, ir
from .smem import Smem

#: The dialects that are built in; parsing loads the others that it meets, and passes of upstream those
#: that they build in. Loading all that there are would take longer than most modules take to compile.
BUILT_IN = (
    "arith",
    "cf",
    "func",
    "gpu",
    "irdl",
    "llvm",
    "math",
    "memref",
    "nvvm",
    "scf",
    "vector",
)

#: Importing these defines the dialect; what they define is part of it.
_DEFINED = (attributes, types, ops)

_LOCK = threading.RLock()

#: What every context is, also one that was made in C++: `ir.Context` is derived from it in Python.
_CONTEXT = ir.Context.__mro__[-2]

# The bindings import `dialects.<name>` of their own package when they first meet an op of a dialect,
# and again at every op for as long as that fails: half of a pass's time. There they find ours.
sys.modules.setdefault(f"{PACKAGE}.dialects.{Smem.DIALECT_NAMESPACE}", ops)


def register(context: Any) -> Any:
    """Makes `smem` known in an MLIR context; registering it again has no effect.

    Multithreading is turned off in the context: MLIR's worker threads would wait for Python's lock
    while they verify ops that are defined in Python.

    Returns:
        The context.

    Raises:
        TypeError: for what is no context of these bindings.
    """
    if not isinstance(context, _CONTEXT):
        raise wrong_argument("mlir_smem.register", "context", context, "an MLIR context")
    context.enable_multithreading(False)
    if not context.is_dialect_loaded(Smem.DIALECT_NAMESPACE):
        with context:
            Smem.load()
    return context


@contextmanager
def new_context() -> Iterator[Any]:
    """A fresh context with `smem` registered, entered together with an unknown location.

    One thread has one at a time: the bindings crash when two load a dialect at once.
    """
    with _LOCK:
        context = register(ir.Context(load_on_create_dialects=BUILT_IN))
        with context, ir.Location.unknown():
            yield context


def irdl() -> str:
    """The dialect as an IRDL module, which `mlir-opt --irdl-file` reads."""
    with new_context():
        return str(Smem._mlir_module)


def dialects() -> list[str]:
    """The dialects that the bindings know, with `smem`, by name."""
    found = {Smem.DIALECT_NAMESPACE, "builtin"}
    folder = Path(ext.__file__).parent
    # The bindings can look a dialect up, but not list them; their generated files tell the names.
    names = {path.stem[1:].removesuffix("_ops_gen") for path in folder.glob("_*_ops_gen.py")}
    with new_context() as context:
        for name in names:
            with suppress(ValueError):
                context.get_dialect_descriptor(name)
                found.add(name)
    return sorted(found)
