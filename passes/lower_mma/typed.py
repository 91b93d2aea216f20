"""An op on fragments with the fragment types that its operands and its result had."""

from typing import Any

from ...dialect.op import operand_names
from ...ir.kernel import required_block_size
from ...ir.threads import linear_thread


class TypedOp:
    """An op whose fragments become registers, at whose place instructions are put.

    Shapes are read off the fragment types, so these are noted before they are converted.

    Attributes:
        op: the op.
        result: the type of its result; None if it has none.
        stays: whether the result stays where the instructions keep accumulators, though it is readable.
    """

    def __init__(self, op: Any) -> None:
        self.op = op
        self.result = op.results[0].type if len(op.results) else None
        self.stays = False
        self._operands = {name: _type_of(getattr(op, name)) for name in operand_names(type(op))}

    def type_of(self, operand: str) -> Any:
        """The type that an operand had: a list for a variadic one, None if it is not there."""
        return self._operands[operand]

    def thread(self) -> Any:
        """Emits the thread's index in its block (i32)."""
        return linear_thread(required_block_size(self.op))


def _type_of(operand: Any) -> Any:
    if isinstance(operand, list):
        return [value.type for value in operand]
    return None if operand is None else operand.type
