"""The base class of the ops: accessors that work, and what each op declares of its effects."""

from functools import cache
from typing import Any

from .bindings import ir
from .caching import cached_in_context
from .diagnostics import emit_op_error
from .effects import Effects
from .smem import Smem


class SmemOp(Smem.Operation):
    """An op of the dialect. Its fields are operands, attributes, results and regions.

    `op.a` is the value of an operand, None for an optional one that is not there, and a list for a
    variadic one.
    """

    #: What the op reads, writes and orders; the default is an op that computes only.
    effects = Effects()

    #: Its integer attributes of each type, those included that need not be there: IRDL says that an
    #: attribute is an integer, and not of which type.
    i32 = tuple[str, ...]()
    i64 = tuple[str, ...]()

    def __init_subclass__(cls, *, name: str | None = None, **keywords: Any) -> None:
        if name is not None and (cls.i32 or cls.i64):
            rules = cls.verify_region_invariants
            cls.verify_region_invariants = staticmethod(
                lambda op: _integers_have_their_types(op) and rules(op)
            )
        super().__init_subclass__(name=name, **keywords)
        if name is not None and cls._ODS_OPERAND_SEGMENTS:
            _define_operands(cls, cls._ODS_OPERAND_SEGMENTS)


def operation_names(*classes: type[SmemOp]) -> tuple[str, ...]:
    """The names of the ops of some classes, or of classes that inherit from them."""
    return tuple(op.OPERATION_NAME for op in Smem.operations if issubclass(op, classes))


def effects_of(op: Any) -> Effects:
    """The effects of an op; of another dialect's, none."""
    return op.effects if isinstance(op, SmemOp) else SmemOp.effects


@cache
def operand_names(op: Any) -> tuple[str, ...]:
    """The names of the operands of an op of that class, in their order."""
    return tuple(field.name for field in op._fields if type(field).__name__ == "OperandDef")


def _integers_have_their_types(op: Any) -> bool:
    """Whether the integer attributes of an op are of the types that it declares; else it is said."""
    attributes = op.attributes
    for names, bits in ((op.i32, 32), (op.i64, 64)):
        for name in names:
            if name not in attributes:
                continue
            given = attributes[name].maybe_downcast()
            numeric = isinstance(given, ir.IntegerAttr | ir.BoolAttr)
            if numeric and not _is_signless(given.type, bits):
                example = f"{name} = {int(given.value)} : i{bits}"
                emit_op_error(op, f"has {name} = {given}; expected an i{bits}, as in {example}")
                return False
    return True


@cached_in_context
def _is_signless(type_: Any, bits: int) -> bool:
    """Whether a type is that of integers of so many bits without a sign."""
    return bool(type_ == ir.IntegerType.get_signless(bits, type_.context))


def _define_operands(cls: Any, segments: list[int]) -> None:
    """Replaces the generated accessors of operands, which read `operandSegmentSizes`: an op with a single
    optional or variadic operand has no such attribute, as the number of its operands says it all."""
    (at,) = (i for i, segment in enumerate(segments) if segment != 1)
    after = len(segments) - at - 1
    for i, name in enumerate(operand_names(cls)):
        if i < at:
            accessor = _counted_from_front(i)
        elif i > at:
            accessor = _counted_from_back(len(segments) - i)
        elif segments[i] == 0:
            accessor = _optional(i, len(segments))
        else:
            accessor = _variadic(i, after)
        setattr(cls, name, property(accessor))


def _counted_from_front(i: int) -> Any:
    return lambda op: op.operands[i]


def _counted_from_back(i: int) -> Any:
    return lambda op: op.operands[-i]


def _optional(i: int, count: int) -> Any:
    def accessor(op: Any) -> Any:
        operands = op.operands
        return operands[i] if len(operands) == count else None

    return accessor


def _variadic(i: int, after: int) -> Any:
    def accessor(op: Any) -> Any:
        operands = list(op.operands)
        return operands[i : len(operands) - after]

    return accessor
