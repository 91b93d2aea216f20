"""Ops on fragments with the fragment types that their operands and results had before conversion."""

from ...bindings.irtypes import Op, Type, Value
from ...dialect.op import operand_names
from ...ir.kernel import required_block_size
from ...ir.threads import linear_thread


class TypedOp:
    """An op on fragments, and its fragment types before they were converted to LLVM types.

    The lowering needs the shapes in these types.

    Attributes:
        op: the op.
        result: the type of its result; None if it has none.
        stays: whether the result stays in tensor memory although it is readable.
    """

    def __init__(self, op: Op) -> None:
        self.op = op
        self.result = op.results[0].type if len(op.results) else None
        self.stays = False
        self._operands = {name: _type_of(getattr(op, name)) for name in operand_names(type(op))}

    def type_of(self, operand: str) -> Type:
        """Return the type that an operand had: a list for a variadic one, None for an absent one."""
        return self._operands[operand]

    def thread(self) -> Value:
        """Emit the index of the thread in its CTA (i32)."""
        return linear_thread(required_block_size(self.op))


def _type_of(operand: Value) -> Type:
    if isinstance(operand, list):
        return [value.type for value in operand]
    return None if operand is None else operand.type
