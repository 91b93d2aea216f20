"""Kinds of arguments, by which the parameters of builders are annotated, and what is said of others."""

import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from .bindings import PACKAGE, ir
from .types import FragmentType, PipelineType, TileType

#: What `Kind.take` gives for an argument that does not fit.
REFUSED = object()


@dataclass(frozen=True, eq=False)
class Kind:
    """What a parameter takes.

    Attributes:
        expected: that in words, for messages: "a tile (an MLIR value of type !smem.tile)".
        take: gives what the builder gets for an argument; `REFUSED` if it does not fit.
    """

    expected: str
    take: Callable[[Any], Any]


def wrong_argument(function: str, parameter: str, given: Any, expected: str) -> TypeError:
    """The error to raise for an argument: "smem.mma: b is None; expected a tile"."""
    return TypeError(f"{function}: {parameter} is {described(given)}; expected {expected}")


def described(given: Any) -> str:
    """An argument in a few words, in one line."""
    if given is None or isinstance(given, bool | int | float | str | bytes | PurePath):
        return reprlib.repr(given)
    if isinstance(given, type):
        return f"the class {given.__name__}"
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(described, given[:6]))}{', ...' if len(given) > 6 else ''}]"
    if isinstance(given, ir.Operation | ir.OpView) and len(given.operation.results) != 1:
        return f"the op {given.operation.name}, which has {len(given.operation.results)} results"
    value = _value_of(given)
    if value is not None:
        return f"a value of type {value.type}"
    if isinstance(given, ir.Type | ir.Attribute):
        return f"the {'type' if isinstance(given, ir.Type) else 'attribute'} {given}"
    name, package = type(given).__name__, _bindings_of(given)
    if package not in (None, PACKAGE):
        return f"a {name} of the bindings package {package}, but mlir_smem uses {PACKAGE}"
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def _bindings_of(given: Any) -> str | None:
    """The bindings package that an object's class comes from; None if it is no class of MLIR's."""
    for each in type(given).__mro__:
        package, found, _ = each.__module__.partition("._mlir_libs")
        if found:
            return package
    return None


def _value_of(given: Any) -> Any:
    """The value that an argument stands for: a value as it is, an op by its only result; else None."""
    if isinstance(given, ir.Value):
        return given
    if isinstance(given, ir.Operation | ir.OpView):
        results = given.operation.results
        return results[0] if len(results) == 1 else None
    return None


#: What most values are: to ask for the very class is faster than `isinstance`.
_VALUES = (ir.OpResult, ir.BlockArgument)


def _values(expected: str, *types: type) -> Kind:
    """Values whose types are of those classes."""

    def take(given: Any) -> Any:
        value = given if type(given) in _VALUES else _value_of(given)
        return value if value is not None and isinstance(value.type, types) else REFUSED

    return Kind(expected, take)


def _instances(expected: str, *classes: type) -> Kind:
    return Kind(expected, lambda given: given if isinstance(given, classes) else REFUSED)


def _integers(bits: int) -> Kind:
    """Integers that a signed integer of so many bits holds."""
    end = 1 << bits - 1

    def take(given: Any) -> Any:
        if type(given) is not int:
            if isinstance(given, bool) or not isinstance(given, Integral):
                return REFUSED
            given = int(given)
        return given if -end <= given < end else REFUSED

    return Kind(f"a {bits}-bit integer", take)


def _is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool)


_INT32, _INT64 = _integers(32), _integers(64)
_INDEX = _values("an integer, or an MLIR value of type index", ir.IndexType)


def _take_index(given: Any) -> Any:
    taken = REFUSED if type(given) is int else _INDEX.take(given)
    return _INT64.take(given) if taken is REFUSED else taken


def _take_scalar(given: Any) -> Any:
    if not _is_number(given):
        value = _value_of(given)
        return REFUSED if value is None else value
    return int(given) if isinstance(given, Integral) else float(given)


_TILE, _FRAGMENT, _MEMREF = "!smem.tile", "!smem.fragment", "memref"

# Annotations of parameters. To readers of types they are `Any`, as all that the bindings have.

Tile = Annotated[Any, _values(f"a tile (an MLIR value of type {_TILE})", TileType)]
Fragment = Annotated[Any, _values(f"a fragment (an MLIR value of type {_FRAGMENT})", FragmentType)]
Memref = Annotated[Any, _values(f"a matrix (an MLIR value of type {_MEMREF})", ir.MemRefType)]
Pipeline = Annotated[
    Any, _values("a pipeline (an MLIR value of type !smem.pipeline)", PipelineType)
]
Condition = Annotated[Any, _values("an MLIR value of type i1", ir.IntegerType)]
Index = Annotated[Any, Kind(_INDEX.expected, _take_index)]
Scalar = Annotated[Any, Kind("a number, or an MLIR value", _take_scalar)]
TileOrFragment = Annotated[
    Any, _values(f"an MLIR value of type {_TILE} or {_FRAGMENT}", TileType, FragmentType)
]
TileOrMemref = Annotated[
    Any, _values(f"an MLIR value of type {_TILE} or {_MEMREF}", TileType, ir.MemRefType)
]
ElementType = Annotated[Any, _instances("an MLIR type, for example BF16Type.get()", ir.Type)]
ResultType = Annotated[Any, _instances(f"an MLIR type {_FRAGMENT}", FragmentType)]
Layout = Annotated[
    Any, _instances('a layout attribute, for example attributes.swizzle("128B")', ir.Attribute)
]

#: What a function that builds a region gives.
VALUE = Kind("an MLIR value", lambda given: REFUSED if (v := _value_of(given)) is None else v)

_PLAIN = {
    int: _INT32,
    bool: _instances("True or False", bool),
    str: _instances("text", str),
    NoneType: Kind("None", lambda given: given if given is None else REFUSED),
}


def kind_of(annotation: Any) -> Kind:
    """The kind that an annotation says: one of the above, `int`, `bool`, `str`, `Callable`, or a
    `Sequence`, a `tuple` or an option (`| None`) of such."""
    if hasattr(annotation, "__metadata__"):
        return annotation.__metadata__[0]
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Callable:
        return Kind("a function", lambda given: given if callable(given) else REFUSED)
    kinds = [kind_of(argument) for argument in arguments]
    if origin in (Union, UnionType):
        return _one_of(kinds)
    if origin is tuple:
        return _tuple_of(kinds)
    assert origin is Sequence, annotation
    return _sequence_of(*kinds)


def _one_of(kinds: list[Kind]) -> Kind:
    def take(given: Any) -> Any:
        for kind in kinds:
            taken = kind.take(given)
            if taken is not REFUSED:
                return taken
        return REFUSED

    return Kind(" or ".join(kind.expected for kind in kinds), take)


def _sequence_of(kind: Kind) -> Kind:
    def take(given: Any) -> Any:
        if type(given) not in (tuple, list) and not _is_sequence(given):
            return REFUSED
        taken = [kind.take(each) for each in given]
        return REFUSED if any(each is REFUSED for each in taken) else taken

    return Kind(f"a sequence, each of it {kind.expected}", take)


def _is_sequence(given: Any) -> bool:
    # Lists of the bindings have no `__iter__`, but places.
    iterable = hasattr(given, "__iter__") or hasattr(given, "__getitem__")
    return iterable and not isinstance(given, str | bytes | dict | type)


def _tuple_of(kinds: list[Kind]) -> Kind:
    def take(given: Any) -> Any:
        if not isinstance(given, list | tuple) or len(given) != len(kinds):
            return REFUSED
        taken = tuple(kind.take(each) for kind, each in zip(kinds, given, strict=True))
        return REFUSED if any(each is REFUSED for each in taken) else taken

    return Kind(f"({', '.join(kind.expected for kind in kinds)})", take)
