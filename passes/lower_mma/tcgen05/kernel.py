"""Kernels whose accumulators are in tensor memory, and what their mma add to."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ....dialect.bindings import ir
from ....dialect.types import is_in_flight, shape_of
from ....ir import emit
from ....ir.tensor_memory import COLUMN_BYTES, columns_of, place_of
from ....layout.elements import INSTRUCTION_K_BYTES
from ....layout.instruction import INSTRUCTION_M
from ..registers import Registers
from ..scale_d import scaled
from ..typed import TypedOp
from .tensor_memory import TensorMemory, pointer


class Kernel:
    """A kernel whose accumulators are in tensor memory.

    Attributes:
        memory: the tensor memory.
    """

    def __init__(self, op: Any, rows: Callable[[int], int]) -> None:
        """Puts the allocation in the place of the `smem.tensor_memory`.

        Args:
            op: the `smem.tensor_memory`.
            rows: from the rows of a product to those of its instructions.
        """
        self._rows, self._used = rows, 0
        with ir.InsertionPoint(op), op.location:
            self.memory = TensorMemory(op)
        op.operation.erase()

    def begin(self, fragment: Any, registers: Registers, held: Any) -> Any:
        """Emits the beginning of an accumulator; its address (i32).

        Args:
            fragment: its type.
            registers: its registers.
            held: what is in it at first, in registers; None for nothing.
        """
        address = self._columns(fragment)
        if held is not None:
            # An mma on the columns' last accumulator may be under way, if nobody waited for it.
            self.memory.wait()
            self.memory.store(address, registers, held)
        return address

    def sum_of(self, typed: TypedOp, registers: Registers) -> "Sum":
        """What an mma adds to: its accumulator, or one that begins here.

        Args:
            typed: the mma.
            registers: the result's registers, once it is loaded.
        """
        accumulator, keep = scaled(typed.op.accumulator)
        had = typed.type_of("accumulator")
        if had is not None and is_in_flight(had):
            address = accumulator
        else:
            address = self.begin(typed.result, registers, accumulator)
        return Sum(address, accumulator is not None, keep)

    def a_of(self, fragment: Any, words: list[Any]) -> list[Any]:
        """Emits the stores of an A to tensor memory; the address of each instruction's share (i32), by
        rows, then along K.

        Args:
            fragment: its type.
            words: its registers, by blocks of 64 rows, then along K.
        """
        address, m = self._columns(fragment), shape_of(fragment)[0]
        rows, blocks = self._rows(m), m // INSTRUCTION_M
        each = len(words) // blocks
        # The mma that read it before may be under way.
        self.memory.wait()
        of_blocks = [words[i * each : (i + 1) * each] for i in range(blocks)]
        self.memory.store_a(address, of_blocks, rows)
        step = INSTRUCTION_K_BYTES // COLUMN_BYTES
        return [
            emit.binary("addi", address, place_of(row, at, each * 2, rows))
            for row in range(0, m, rows)
            for at in range(0, each * 2, step)
        ]

    def _columns(self, fragment: Any) -> Any:
        """The address of the columns that are next."""
        address = emit.binary("addi", self.memory.first, self._used)
        self._used += columns_of(fragment)
        return address


class Sum(NamedTuple):
    """An accumulator in tensor memory that a product adds to.

    Attributes:
        address: its address (i32).
        holds: whether it holds something before.
        keep: whether that counts (i1), if it is given at run time; else None.
    """

    address: Any
    holds: bool
    keep: Any

    def places(self, registers: Registers) -> list[Any]:
        """Pointers to what each instruction computes."""
        return [
            pointer(
                emit.binary(
                    "addi", self.address, place_of(row, column, registers.columns, registers.rows)
                )
            )
            for row, column, _ in registers.instructions
        ]

    def adds(self, k: int) -> Any:
        """Whether the instructions of a step along K add (i1): only the first meet what the accumulator
        held before."""
        if k == 0 and self.keep is not None:
            return self.keep
        return emit.constant(bool(k) or self.holds, ir.IntegerType.get_signless(1))
