"""The base class of ops: operand accessors, declared effects, types of integer attributes."""

from functools import cache
from typing import Any

from ..bindings.diagnostics import emit_op_error
from ..bindings.irtypes import Op, Type, Value
from ..bindings.mlir import ir
from .caching import cached_in_context
from .effects import Effects
from .smem import Smem


class SmemOp(Smem.Operation):
    """An op of the dialect. Its fields are operands, attributes, results and regions.

    `op.a` is the value of operand `a`: None if it is optional and absent, a list if it is variadic.
    """

    #: Memory accesses and synchronization; the default is an op without any.
    effects = Effects()

    #: Whether each row of its result follows from the same row of its operands alone.
    is_by_rows = False

    #: Names of the i32 and i64 attributes, optional ones included: IRDL constrains an attribute to be an
    #: integer, but not its type.
    i32 = tuple[str, ...]()
    i64 = tuple[str, ...]()

    def __init_subclass__(cls, *, name: str | None = None, **keywords: Any) -> None:
        if name is not None and (cls.i32 or cls.i64):
            rules = cls.verify_region_invariants
            cls.verify_region_invariants = staticmethod(
                lambda op: _has_integer_types(op) and rules(op)
            )
        super().__init_subclass__(name=name, **keywords)
        if name is not None and cls._ODS_OPERAND_SEGMENTS:
            _define_operands(cls, cls._ODS_OPERAND_SEGMENTS)


def operation_names(*classes: type[SmemOp]) -> tuple[str, ...]:
    """Return the names of ops whose classes are, or inherit from, `classes`."""
    return tuple(op.OPERATION_NAME for op in Smem.operations if issubclass(op, classes))


def effects_of(op: Op) -> Effects:
    """Return the effects of an op view; none for an op of another dialect."""
    return op.effects if isinstance(op, SmemOp) else SmemOp.effects


@cache
def operand_names(op: Any) -> tuple[str, ...]:
    """Return the operand names of an op class, in order."""
    return tuple(field.name for field in op._fields if type(field).__name__ == "OperandDef")


def _has_integer_types(op: Op) -> bool:
    """Whether integer attributes have the declared types; emits an error for the first that has not."""
    attributes = op.attributes
    for names, bits in ((op.i32, 32), (op.i64, 64)):
        for name in names:
            if name not in attributes:
                continue
            attribute = attributes[name].maybe_downcast()
            numeric = isinstance(attribute, ir.IntegerAttr | ir.BoolAttr)
            if numeric and not _is_signless(attribute.type, bits):
                example = f"{name} = {int(attribute.value)} : i{bits}"
                emit_op_error(op, f"has {name} = {attribute}; expected an i{bits}, as in {example}")
                return False
    return True


@cached_in_context
def _is_signless(type_: Type, bits: int) -> bool:
    """Whether a type is the signless integer type of `bits` bits."""
    return bool(type_ == ir.IntegerType.get_signless(bits, type_.context))


def _define_operands(cls: Any, segments: list[int]) -> None:
    """Replace the generated operand accessors, which read `operandSegmentSizes`.

    An op with a single optional or variadic operand has no such attribute: the number of its operands is
    enough.
    """
    (special,) = (i for i, segment in enumerate(segments) if segment != 1)
    after = len(segments) - special - 1
    for i, name in enumerate(operand_names(cls)):
        if i < special:
            accessor = _leading_operand(i)
        elif i > special:
            accessor = _trailing_operand(len(segments) - i)
        elif segments[i] == 0:
            accessor = _optional_operand(i, len(segments))
        else:
            accessor = _variadic_operand(i, after)
        setattr(cls, name, property(accessor))


def _leading_operand(i: int) -> Any:
    return lambda op: op.operands[i]


def _trailing_operand(i: int) -> Any:
    return lambda op: op.operands[-i]


def _optional_operand(i: int, count: int) -> Any:
    def accessor(op: Op) -> Value | None:
        operands = op.operands
        return operands[i] if len(operands) == count else None

    return accessor


def _variadic_operand(i: int, after: int) -> Any:
    def accessor(op: Op) -> list[Value]:
        operands = list(op.operands)
        return operands[i : len(operands) - after]

    return accessor
