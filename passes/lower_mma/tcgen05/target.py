"""`tcgen05` as `smem-lower-mma` lowers to it."""

from collections.abc import Sequence
from typing import Any

from ....dialect.ops import WaitOp
from ....dialect.types import is_in_flight
from ....ir import emit
from ....ir.kernel import function_of
from ....ir.lowerings import Lowerings
from ..target import MmaTarget
from ..typed import TypedOp
from .by_columns import is_read_by_columns
from .kernel import Kernel
from .prepared import check_memories

#: The ops that `tcgen05` lowers in its own way; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class Tcgen05Target(MmaTarget):
    """`tcgen05` keeps accumulators in flight in tensor memory: an address (i32) stands for each."""

    isa = "tcgen05"
    lowerings = LOWERINGS

    def check(self, ops: Sequence[Any], memories: Sequence[Any]) -> None:
        check_memories(ops, memories)

    def note(self, ops: Sequence[TypedOp]) -> None:
        for typed in ops:
            if isinstance(typed.op, WaitOp):
                typed.stays = is_in_flight(typed.result) or is_read_by_columns(typed.op)

    def register_type(self, fragment: Any) -> Any:
        return emit.i32() if is_in_flight(fragment) else super().register_type(fragment)

    def prepare(self, memories: Sequence[Any]) -> None:
        self._kernels = {function_of(op): Kernel(op, self.rows) for op in memories}

    def kernel_of(self, op: Any) -> Kernel:
        """The kernel around an op with an accumulator in flight, which has tensor memory."""
        return self._kernels[function_of(op)]
