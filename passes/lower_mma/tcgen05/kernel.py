"""Kernels whose accumulators are in tensor memory, and these accumulators."""

from collections.abc import Callable
from typing import NamedTuple

from ....bindings.irtypes import Type, Value
from ....bindings.mlir import ir
from ....dialect.ops import TensorMemoryOp
from ....dialect.types import is_in_flight, shape_of
from ....ir import emit
from ....ir.tensor_memory import COLUMN_BYTES, address_offset, columns_of
from ....layout.instruction import INSTRUCTION_K_BYTES
from ....layout.wgmma import INSTRUCTION_M
from ..registers import Registers
from ..scale_d import split_scale_d
from ..typed import TypedOp
from .tensor_memory import TensorMemory, pointer


class Kernel:
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
        self._rows, self._used = rows, 0
        with ir.InsertionPoint(op), op.location:
            self.memory = TensorMemory(op)
        op.operation.erase()

    def begin(self, fragment: Type, registers: Registers, held: Value) -> Value:
        """Emit the initialisation of an accumulator; return its address (i32).

        Args:
            fragment: its type.
            registers: its registers.
            held: its initial value in registers; None if it is not initialised.
        """
        address = self._columns(fragment)
        if held is not None:
            # An mma on the previous accumulator in these columns may be in flight, if there was no wait.
            self.memory.wait()
            self.memory.store(address, registers, held)
        return address

    def accumulator_of(self, typed: TypedOp, registers: Registers) -> "MmaAccumulator":
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
            address = self.begin(typed.result, registers, accumulator)
        return MmaAccumulator(address, accumulator is not None, keep)

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
        each = len(words) // blocks
        # The mma that read these columns before may be in flight.
        self.memory.wait()
        of_blocks = [words[i * each : (i + 1) * each] for i in range(blocks)]
        self.memory.store_a(address, of_blocks, rows)
        step = INSTRUCTION_K_BYTES // COLUMN_BYTES
        return [
            emit.binary("addi", address, address_offset(row, at, each * 2, rows))
            for row in range(0, m, rows)
            for at in range(0, each * 2, step)
        ]

    def _columns(self, fragment: Type) -> Value:
        """Return the address of the next free columns."""
        address = emit.binary("addi", self.memory.first, self._used)
        self._used += columns_of(fragment)
        return address


class MmaAccumulator(NamedTuple):
    """An accumulator in tensor memory that an mma adds to.

    Attributes:
        address: its address (i32).
        is_initialised: whether it has a value before the mma.
        keep: whether the mma adds to that value (i1), if this is known at run time only; else None.
    """

    address: Value
    is_initialised: bool
    keep: Value

    def pointers(self, registers: Registers) -> list[Value]:
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
