"""Registers that an mma in flight reads: those of A, and of the metadata of a sparse mma.

`wgmma` reads them after it was issued, as it reads shared memory (PTX ISA 9.7.15.7.3). An op in a loop
writes the same registers in each iteration.
"""

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import TileMma
from ...dialect.types import FragmentType
from ...ir.walk import walk


class Registers:
    """The ops of a function that write registers which an mma reads."""

    def __init__(self, function: Op) -> None:
        self._writers: dict[Op, None] = {}
        for op in walk(function, TileMma):
            self._writers |= dict.fromkeys(self.of(op))

    def of(self, mma: Op) -> list[Op]:
        """Return the ops that write the registers of an mma; for values that a loop carries, the loop."""
        named = (getattr(mma, name, None) for name in ("a", "metadata"))
        read = [x for x in named if x is not None and isinstance(x.type, FragmentType)]
        return [_writer_of(value) for value in read]

    def are_written_by(self, op: Op) -> bool:
        """Whether an op writes such registers."""
        return op.operation in self._writers


def _writer_of(value: Value) -> Op:
    owner = value.owner
    return owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
