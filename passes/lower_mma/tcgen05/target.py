"""The `tcgen05` target of `smem-lower-mma`."""

from collections.abc import Sequence

from ....bindings.irtypes import Op, Type
from ....dialect.ops import WaitOp
from ....dialect.types import is_in_flight
from ....ir import emit
from ....ir.kernel import function_of
from ....ir.lowerings import Lowerings
from ..target import MmaTarget
from ..typed import TypedOp
from .by_columns import is_read_by_columns
from .check_tensor_memory import check_tensor_memory
from .kernel import Kernel

#: The ops that have their own lowering for `tcgen05`; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class Tcgen05Target(MmaTarget):
    """`tcgen05` keeps accumulators in flight in tensor memory: each becomes an address (i32)."""

    isa = "tcgen05"
    lowerings = LOWERINGS

    def check(self, ops: Sequence[Op], memories: Sequence[Op]) -> None:
        check_tensor_memory(ops, memories)

    def record(self, ops: Sequence[TypedOp]) -> None:
        for typed in ops:
            if isinstance(typed.op, WaitOp):
                typed.stays = is_in_flight(typed.result) or is_read_by_columns(typed.op)

    def register_type(self, fragment: Type) -> Type:
        return emit.i32() if is_in_flight(fragment) else super().register_type(fragment)

    def prepare(self, memories: Sequence[Op]) -> None:
        self._kernels = {function_of(op): Kernel(op, self.rows) for op in memories}

    def kernel_of(self, op: Op) -> Kernel:
        """Return the kernel of an op with an accumulator in flight."""
        return self._kernels[function_of(op)]
