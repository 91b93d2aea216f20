"""The `tcgen05` target of `smem-lower-mma`: kernels whose accumulators are in tensor memory."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ....bindings.irtypes import Op, Type, Value
from ....bindings.mlir import ir
from ....dialect.ops import AnyMma, ColumnsOp, TensorMemoryOp, WaitOp
from ....dialect.types import is_in_flight, shape_of
from ....ir import emit
from ....ir.kernel import function_of
from ....ir.lowerings import Lowerings
from ....ir.tensor_memory import COLUMN_BYTES, address_offset, columns_of
from ....ir.walk import holds
from ....layout.instruction import INSTRUCTION_K_BYTES
from ....layout.wgmma import INSTRUCTION_M
from ..mma_qualifiers import split_scale_d
from ..registers import AccumulatorRegisters
from ..target import MmaTarget, TypedOp
from .tensor_memory import TensorMemoryAllocation, check_tensor_memory, pointer

#: The ops that have their own lowering for `tcgen05`; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class _MmaAccumulator(NamedTuple):
    """An accumulator in tensor memory that an mma adds to.

    Attributes:
        address: its address (i32).
        is_initialised: whether it has a value before the mma.
        keep: whether the mma adds to that value (i1), if this is known at run time only; else None.
    """

    address: Value
    is_initialised: bool
    keep: Value

    def pointers(self, registers: AccumulatorRegisters) -> list[Value]:
        """Return a pointer to the columns that each instruction writes."""
        return [
            pointer(
                emit.binary(
                    "addi",
                    self.address,
                    address_offset(row, column, registers.columns, registers.rows),
                )
            )
            for row, column, _ in registers.instructions
        ]

    def adds(self, k: int) -> Value:
        """Return whether the instructions of a K block add to the accumulator (i1).

        Only those of K block 0 depend on its value before the mma.
        """
        if k == 0 and self.keep is not None:
            return self.keep
        return emit.constant(bool(k) or self.is_initialised, ir.IntegerType.get_signless(1))


class _TensorMemoryKernel:
    """A kernel whose accumulators are in tensor memory.

    Attributes:
        memory: the tensor memory.
    """

    def __init__(self, op: TensorMemoryOp, rows: Callable[[int], int]) -> None:
        """Replace an `smem.tensor_memory` by the allocation.

        Args:
            op: the `smem.tensor_memory`.
            rows: from the rows of an mma to those of its instructions.
        """
        self._rows, self._used_columns = rows, 0
        with ir.InsertionPoint(op), op.location:
            self.memory = TensorMemoryAllocation(op)
        op.operation.erase()

    def initialize(self, type_: Type, registers: AccumulatorRegisters, fragment: Value) -> Value:
        """Emit the initialisation of an accumulator; return its address (i32).

        Args:
            type_: its type.
            registers: its registers.
            fragment: its initial value in registers; None if it is not initialised.
        """
        address = self._columns(type_)
        if fragment is not None:
            # Without a wait, an mma on the previous accumulator in these columns may be in flight.
            self.memory.wait()
            self.memory.store(address, registers, fragment)
        return address

    def accumulator_of(self, typed: TypedOp, registers: AccumulatorRegisters) -> _MmaAccumulator:
        """Return the accumulator of an mma: its operand, or a new one.

        Args:
            typed: the mma.
            registers: the registers of the result, once it is loaded.
        """
        accumulator, keep = split_scale_d(typed.op.accumulator)
        type_ = typed.type_of("accumulator")
        if type_ is not None and is_in_flight(type_):
            address = accumulator
        else:
            address = self.initialize(typed.result, registers, accumulator)
        return _MmaAccumulator(address, accumulator is not None, keep)

    def a_of(self, fragment: Type, words: list[Value]) -> list[Value]:
        """Emit the stores of an A fragment to tensor memory.

        Args:
            fragment: its type.
            words: its registers, by blocks of 64 rows, then along K.

        Returns:
            The address (i32) of each MMA tile, by rows, then along K.
        """
        address, m = self._columns(fragment), shape_of(fragment)[0]
        rows, blocks = self._rows(m), m // INSTRUCTION_M
        words_per_block = len(words) // blocks
        # The mma that read these columns before may be in flight.
        self.memory.wait()
        words_of_blocks = [
            words[i * words_per_block : (i + 1) * words_per_block] for i in range(blocks)
        ]
        self.memory.store_a(address, words_of_blocks, rows)
        step = INSTRUCTION_K_BYTES // COLUMN_BYTES
        return [
            emit.binary("addi", address, address_offset(row, column, words_per_block * 2, rows))
            for row in range(0, m, rows)
            for column in range(0, words_per_block * 2, step)
        ]

    def _columns(self, fragment: Type) -> Value:
        """Return the address of the next free columns."""
        address = emit.binary("addi", self.memory.first, self._used_columns)
        self._used_columns += columns_of(fragment)
        return address


class Tcgen05Target(MmaTarget):
    """`tcgen05` keeps accumulators in flight in tensor memory: each becomes an address (i32)."""

    isa = "tcgen05"
    lowerings = LOWERINGS

    def check(self, ops: Sequence[Op], memories: Sequence[Any]) -> None:
        check_tensor_memory(ops, memories)

    def record(self, ops: Sequence[TypedOp]) -> None:
        for typed in ops:
            if isinstance(typed.op, WaitOp):
                typed.stays = is_in_flight(typed.result) or _is_read_by_columns(typed.op)

    def register_type(self, fragment: Type) -> Type:
        return emit.i32() if is_in_flight(fragment) else super().register_type(fragment)

    def prepare(self, memories: Sequence[Any]) -> None:
        self._kernels = {function_of(op): _TensorMemoryKernel(op, self.rows) for op in memories}

    def kernel_of(self, op: Op) -> _TensorMemoryKernel:
        """Return the kernel of an op with an accumulator in flight."""
        return self._kernels[function_of(op)]


def _is_read_by_columns(wait: WaitOp) -> bool:
    """Return whether an accumulator stays in tensor memory after a wait.

    Its only uses are `smem.columns` in the same basic block, before another mma could overwrite it. Each
    loads its columns where they are used, so that a thread never holds the whole accumulator.
    """
    operation = wait.operation
    users = [use.owner for use in wait.result.uses]
    block = operation.block
    if not users or any(
        not isinstance(user, ColumnsOp) or user.operation.block != block for user in users
    ):
        return False
    ops = [op.operation for op in block.operations]
    last = max(ops.index(user.operation) for user in users)
    return not any(holds(op, AnyMma) for op in ops[ops.index(operation) + 1 : last])
