"""Argument types of builders: annotations of their parameters, and errors for other arguments."""

import reprlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from ..bindings.irtypes import Value
from ..bindings.mlir import PACKAGE, ir
from ..bindings.packages import is_foreign, package_of, remedy
from .types import FragmentType, PipelineType, TileType

#: The result of `ArgumentType.take` for an argument that it rejects.
REFUSED = object()


@dataclass(frozen=True, eq=False)
class ArgumentType:
    """The arguments that a parameter accepts.

    Attributes:
        expected: a description for messages, such as "a tile (an MLIR value of type !smem.tile)".
        take: converts an argument to what the builder receives; `REFUSED` if it is rejected.
    """

    expected: str
    take: Callable[[Any], Any]


def wrong_argument(function: str, parameter: str, given: Any, expected: str) -> TypeError:
    """Return the error for a wrong argument: "smem.mma: b is None; expected a tile".

    For an object of another bindings package, it names both packages and says how to work with it.
    """
    if is_foreign(given):
        advice = remedy(str(package_of(given)))
        return TypeError(f"{function}: {parameter} is {describe(given)}; {advice}")
    return TypeError(f"{function}: {parameter} is {describe(given)}; expected {expected}")


def describe(given: Any) -> str:
    """Describe an argument in one line, for a message."""
    if given is None or isinstance(given, bool | int | float | str | bytes | PurePath):
        return reprlib.repr(given)
    if isinstance(given, type):
        return f"the class {given.__name__}"
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(describe, given[:6]))}{', ...' if len(given) > 6 else ''}]"
    if isinstance(given, ir.Operation | ir.OpView) and len(given.operation.results) != 1:
        return f"the op {given.operation.name}, which has {len(given.operation.results)} results"
    value = _value_of(given)
    if value is not None:
        return f"a value of type {value.type}"
    if isinstance(given, ir.Type | ir.Attribute):
        return f"the {'type' if isinstance(given, ir.Type) else 'attribute'} {given}"
    name = type(given).__name__
    if is_foreign(given):
        package = package_of(given)
        return f"a {name} of the bindings package {package}, but mlir_smem uses {PACKAGE}"
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def _value_of(given: Any) -> Value | None:
    """The value of an argument: a value itself, or the single result of an op; None for others."""
    if isinstance(given, ir.Value):
        return given
    if isinstance(given, ir.Operation | ir.OpView):
        results = given.operation.results
        return results[0] if len(results) == 1 else None
    return None


#: The classes of most values: comparing the class is faster than `isinstance`.
_VALUES = (ir.OpResult, ir.BlockArgument)


def _values(expected: str, *types: type) -> ArgumentType:
    """Accept values whose types are instances of `types`."""

    def take(given: Any) -> Any:
        value = given if type(given) in _VALUES else _value_of(given)
        return value if value is not None and isinstance(value.type, types) else REFUSED

    return ArgumentType(expected, take)


def _instances(expected: str, *classes: type) -> ArgumentType:
    return ArgumentType(expected, lambda given: given if isinstance(given, classes) else REFUSED)


def _integers(bits: int) -> ArgumentType:
    """Accept integers that fit a signed integer of `bits` bits."""
    end = 1 << bits - 1

    def take(given: Any) -> Any:
        if type(given) is not int:
            if isinstance(given, bool) or not isinstance(given, Integral):
                return REFUSED
            given = int(given)
        return given if -end <= given < end else REFUSED

    return ArgumentType(f"a {bits}-bit integer", take)


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

# Annotations of parameters. A type checker reads them as `Any`, since the bindings have no type stubs.

Tile = Annotated[Any, _values(f"a tile (an MLIR value of type {_TILE})", TileType)]
Fragment = Annotated[Any, _values(f"a fragment (an MLIR value of type {_FRAGMENT})", FragmentType)]
Memref = Annotated[Any, _values(f"a matrix (an MLIR value of type {_MEMREF})", ir.MemRefType)]
Vector = Annotated[Any, _values("an MLIR value of type vector", ir.VectorType)]
Pipeline = Annotated[
    Any, _values("a pipeline (an MLIR value of type !smem.pipeline)", PipelineType)
]
Condition = Annotated[Any, _values("an MLIR value of type i1", ir.IntegerType)]
Index = Annotated[Any, ArgumentType(_INDEX.expected, _take_index)]
Scalar = Annotated[Any, ArgumentType("a number, or an MLIR value", _take_scalar)]
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

#: The result of a function that builds a region.
VALUE = ArgumentType(
    "an MLIR value", lambda given: REFUSED if (v := _value_of(given)) is None else v
)

_PLAIN = {
    int: _INT32,
    bool: _instances("True or False", bool),
    str: _instances("text", str),
    NoneType: ArgumentType("None", lambda given: given if given is None else REFUSED),
}


def argument_type(annotation: Any) -> ArgumentType:
    """Return the argument type of an annotation: one of the above, `int`, `bool`, `str` or `Callable`,
    or a `Sequence`, a `tuple` or a union (`| None`) of these."""
    if hasattr(annotation, "__metadata__"):
        return annotation.__metadata__[0]
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Callable:
        return ArgumentType("a function", lambda given: given if callable(given) else REFUSED)
    inner = [argument_type(argument) for argument in arguments]
    if origin in (Union, UnionType):
        return _one_of(inner)
    if origin is tuple:
        return _tuple_of(inner)
    if origin is not Sequence:
        raise TypeError(f"no argument can be annotated with {annotation}")
    return _sequence_of(*inner)


def _one_of(types: list[ArgumentType]) -> ArgumentType:
    def take(given: Any) -> Any:
        for each in types:
            taken = each.take(given)
            if taken is not REFUSED:
                return taken
        return REFUSED

    return ArgumentType(" or ".join(each.expected for each in types), take)


def _sequence_of(element: ArgumentType) -> ArgumentType:
    def take(given: Any) -> Any:
        if type(given) not in (tuple, list) and not _is_sequence(given):
            return REFUSED
        taken = [element.take(each) for each in given]
        return REFUSED if any(each is REFUSED for each in taken) else taken

    return ArgumentType(f"a sequence, each element {element.expected}", take)


def _is_sequence(given: Any) -> bool:
    # Lists of the bindings have `__getitem__`, but no `__iter__`.
    iterable = hasattr(given, "__iter__") or hasattr(given, "__getitem__")
    return iterable and not isinstance(given, str | bytes | dict | type)


def _tuple_of(types: list[ArgumentType]) -> ArgumentType:
    def take(given: Any) -> Any:
        if not isinstance(given, list | tuple) or len(given) != len(types):
            return REFUSED
        taken = tuple(type_.take(each) for type_, each in zip(types, given, strict=True))
        return REFUSED if any(each is REFUSED for each in taken) else taken

    return ArgumentType(f"({', '.join(each.expected for each in types)})", take)
