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


def wrong_argument(function: str, parameter: str, argument: Any, expected: str) -> TypeError:
    """Return the error for a wrong argument: "smem.mma: b is None; expected a tile".

    For an object of another bindings package, it names both packages and says how to work with it.
    """
    if is_foreign(argument):
        advice = remedy(str(package_of(argument)))
        return TypeError(f"{function}: {parameter} is {describe(argument)}; {advice}")
    return TypeError(f"{function}: {parameter} is {describe(argument)}; expected {expected}")


def describe(argument: Any) -> str:
    """Describe an argument in one line, for a message."""
    if argument is None or isinstance(argument, bool | int | float | str | bytes | PurePath):
        return reprlib.repr(argument)
    if isinstance(argument, type):
        return f"the class {argument.__name__}"
    if isinstance(argument, list | tuple):
        return f"[{', '.join(map(describe, argument[:6]))}{', ...' if len(argument) > 6 else ''}]"
    if isinstance(argument, ir.Operation | ir.OpView) and len(argument.operation.results) != 1:
        return (
            f"the op {argument.operation.name}, which has {len(argument.operation.results)} results"
        )
    value = _value_of(argument)
    if value is not None:
        return f"a value of type {value.type}"
    if isinstance(argument, ir.Type | ir.Attribute):
        return f"the {'type' if isinstance(argument, ir.Type) else 'attribute'} {argument}"
    name = type(argument).__name__
    if is_foreign(argument):
        package = package_of(argument)
        return f"a {name} of the bindings package {package}, but mlir_smem uses {PACKAGE}"
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def _value_of(argument: Any) -> Value | None:
    """The value of an argument: a value itself, or the single result of an op; None for others."""
    if isinstance(argument, ir.Value):
        return argument
    if isinstance(argument, ir.Operation | ir.OpView):
        results = argument.operation.results
        return results[0] if len(results) == 1 else None
    return None


#: The classes of most values: comparing the class is faster than `isinstance`.
_VALUES = (ir.OpResult, ir.BlockArgument)


def _values(expected: str, *types: type) -> ArgumentType:
    """Accept values whose types are instances of `types`."""

    def take(argument: Any) -> Any:
        value = argument if type(argument) in _VALUES else _value_of(argument)
        return value if value is not None and isinstance(value.type, types) else REFUSED

    return ArgumentType(expected, take)


def _instances(expected: str, *classes: type) -> ArgumentType:
    return ArgumentType(
        expected, lambda argument: argument if isinstance(argument, classes) else REFUSED
    )


def _integers(bits: int) -> ArgumentType:
    """Accept integers that fit a signed integer of `bits` bits."""
    end = 1 << bits - 1

    def take(argument: Any) -> Any:
        if type(argument) is not int:
            if isinstance(argument, bool) or not isinstance(argument, Integral):
                return REFUSED
            argument = int(argument)
        return argument if -end <= argument < end else REFUSED

    return ArgumentType(f"a {bits}-bit integer", take)


def _is_number(argument: Any) -> bool:
    return isinstance(argument, Real) and not isinstance(argument, bool)


_INT32, _INT64 = _integers(32), _integers(64)
_INDEX = _values("an integer, or an MLIR value of type index", ir.IndexType)


def _take_index(argument: Any) -> Any:
    index = REFUSED if type(argument) is int else _INDEX.take(argument)
    return _INT64.take(argument) if index is REFUSED else index


def _take_scalar(argument: Any) -> Any:
    if not _is_number(argument):
        value = _value_of(argument)
        return REFUSED if value is None else value
    return int(argument) if isinstance(argument, Integral) else float(argument)


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
    "an MLIR value", lambda argument: REFUSED if (v := _value_of(argument)) is None else v
)

_PLAIN = {
    int: _INT32,
    bool: _instances("True or False", bool),
    str: _instances("text", str),
    NoneType: ArgumentType("None", lambda argument: argument if argument is None else REFUSED),
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
        return ArgumentType(
            "a function", lambda argument: argument if callable(argument) else REFUSED
        )
    inner = [argument_type(argument) for argument in arguments]
    if origin in (Union, UnionType):
        return _one_of(inner)
    if origin is tuple:
        return _tuple_of(inner)
    if origin is not Sequence:
        raise TypeError(f"no argument can be annotated with {annotation}")
    return _sequence_of(*inner)


def _one_of(types: list[ArgumentType]) -> ArgumentType:
    def take(argument: Any) -> Any:
        for type_ in types:
            converted = type_.take(argument)
            if converted is not REFUSED:
                return converted
        return REFUSED

    return ArgumentType(" or ".join(type_.expected for type_ in types), take)


def _sequence_of(element_type: ArgumentType) -> ArgumentType:
    def take(argument: Any) -> Any:
        if type(argument) not in (tuple, list) and not _is_sequence(argument):
            return REFUSED
        elements = [element_type.take(element) for element in argument]
        return REFUSED if any(element is REFUSED for element in elements) else elements

    return ArgumentType(f"a sequence, each element {element_type.expected}", take)


def _is_sequence(argument: Any) -> bool:
    # Lists of the bindings have `__getitem__`, but no `__iter__`.
    iterable = hasattr(argument, "__iter__") or hasattr(argument, "__getitem__")
    return iterable and not isinstance(argument, str | bytes | dict | type)


def _tuple_of(types: list[ArgumentType]) -> ArgumentType:
    def take(argument: Any) -> Any:
        if not isinstance(argument, list | tuple) or len(argument) != len(types):
            return REFUSED
        elements = tuple(
            type_.take(element) for type_, element in zip(types, argument, strict=True)
        )
        return REFUSED if any(element is REFUSED for element in elements) else elements

    return ArgumentType(f"({', '.join(type_.expected for type_ in types)})", take)
