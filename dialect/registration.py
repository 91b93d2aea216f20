"""Registration of the dialect, in any number of contexts, any number of times."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..bindings.irtypes import Context
from ..bindings.mlir import PACKAGE, ext, ir, is_dialect_loaded, load_dialect
from . import attributes, ops, types
from .arguments import wrong_argument
from .smem import Smem

#: Dialects that passes create ops of, loaded with the context. Parsing and upstream passes load further
#: ones on demand. Loading all dialects would take longer than compiling most modules.
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

#: Importing these modules defines the dialect.
_DEFINED = (attributes, types, ops)

_LOCK = threading.RLock()

#: Maximum uses of a shared context: it keeps the types, attributes and locations of all of them.
_USES = 64


@dataclass
class _SharedContext:
    """A context that is entered by one use after another.

    Attributes:
        context: the context.
        definitions: those of the dialect when it was registered.
        uses: the number of uses so far.
    """

    context: Context
    definitions: tuple[Any, ...]
    uses: int = 0


#: Shared contexts that are not in use.
_idle: list[_SharedContext] = []

#: The class of every context, also of one created in C++; `ir.Context` is its subclass in Python.
_CONTEXT = ir.Context.__mro__[-2]

# The bindings import `dialects.<name>` of their package for the first op of a dialect, and retry at
# every op while that fails, which takes half of a pass's time. This entry makes the import succeed.
sys.modules.setdefault(f"{PACKAGE}.dialects.{Smem.DIALECT_NAMESPACE}", ops)

# With `ir.loc_tracebacks()`, an op's location begins at the caller of its builder.
_exclude = getattr(getattr(ir, "_globals", None), "register_traceback_file_exclusion", None)
if _exclude is not None:
    _exclude(f"{Path(__file__).parent}/")


def register(context: Context) -> Context:
    """Load the dialect `smem` into an MLIR context; a second call has no effect.

    Multithreading of the context is disabled: MLIR's worker threads would wait for the GIL while they
    verify ops that are defined in Python.

    Returns:
        The context.

    Raises:
        TypeError: if it is not a context of these bindings.
        ValueError: if it allows unregistered dialects and has a module, which may hold ops of `smem`.

    Example:
        >>> from mlir_smem.bindings import ir
        >>> with register(ir.Context()):
        ...     module = ir.Module.parse('"smem.fence"() : () -> ()')
        >>> print(module.body.operations[0])
        "smem.fence"() : () -> ()
    """
    if not isinstance(context, _CONTEXT):
        raise wrong_argument("mlir_smem.register", "context", context, "an MLIR context")
    context.enable_multithreading(False)
    if not is_dialect_loaded(context, Smem.DIALECT_NAMESPACE):
        _check_has_no_ops(context)
        with context:
            load_dialect(Smem)
    return context


def _check_has_no_ops(context: Context) -> None:
    """Check that a context cannot hold ops of `smem` already.

    They would stay unregistered, and crash the process when the bindings read their attributes. Of the
    modules of a context, the bindings tell the number only.

    Raises:
        ValueError: if it can.
    """
    modules = context._get_live_module_count()
    if context.allow_unregistered_dialects and modules:
        raise ValueError(
            f"mlir_smem.register: the context allows unregistered dialects and has {modules} "
            f"module{'s' * (modules > 1)}, which may hold ops of smem; register it before it has any, or "
            "lower them by mlir_smem.interop.lower"
        )


@contextmanager
def new_context() -> Iterator[Context]:
    """Enter a new context with `smem` registered, and an unknown location.

    A lock admits one thread at a time: the bindings crash when two threads load a dialect at once.

    Example:
        >>> from mlir_smem.bindings import ir
        >>> with new_context():
        ...     print(ir.Type.parse("!smem.tile<tensor<64x64xbf16>, #smem.auto>"))
        !smem.tile<tensor<64x64xbf16>, #smem.auto>
    """
    with _LOCK:
        context = _new_context()
        with context, ir.Location.unknown():
            yield context


@contextmanager
def shared_context() -> Iterator[Context]:
    """Enter a context as `new_context` does, but reuse one of an earlier call, which saves 4 ms.

    It is for modules that this package creates and frees: a host could change the context.

    Example:
        >>> with shared_context() as context:
        ...     print(context.dialects["smem"].namespace)
        smem
    """
    with _LOCK:
        definitions = (*Smem.types, *Smem.attributes, *Smem.operations)
        shared = _idle.pop() if _idle else None
        if shared is None or shared.definitions != definitions or shared.uses == _USES:
            shared = _SharedContext(_new_context(), definitions)
        with shared.context, ir.Location.unknown():
            yield shared.context
        # Not after an exception, whose traceback may hold modules.
        shared.uses += 1
        _idle.append(shared)


def _new_context() -> Context:
    return register(ir.Context(load_on_create_dialects=BUILT_IN))


def irdl() -> str:
    """Return the dialect as the text of an IRDL module, which `mlir-opt --irdl-file` reads.

    Example:
        >>> print(irdl().splitlines()[1])
          irdl.dialect @smem {
    """
    with new_context():
        return str(Smem._mlir_module)


def dialects() -> list[str]:
    """Return the names of the dialects of the bindings, and `smem`, sorted.

    Example:
        >>> "smem" in dialects() and "nvvm" in dialects()
        True
    """
    loadable = {Smem.DIALECT_NAMESPACE, "builtin"}
    folder = Path(ext.__file__).parent
    # The bindings can look up a dialect but not list all; the names are those of their generated files.
    names = {path.stem[1:].removesuffix("_ops_gen") for path in folder.glob("_*_ops_gen.py")}
    with new_context() as context:
        for name in names:
            with suppress(ValueError):
                context.get_dialect_descriptor(name)
                loadable.add(name)
    return sorted(loadable)
