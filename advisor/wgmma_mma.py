"""The `wgmma` instructions of an MMA of two tiles."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..layout import Accumulator, Major, accumulators
from ..layout.elements import B1
from ..layout.fragments import WARPGROUP
from ..layout.instruction import instruction_k
from ..layout.wgmma import INSTRUCTION_M, MN_MAJOR
from .answer import Answer
from .chosen_operand import ChosenOperand


@dataclass(frozen=True)
class WgmmaMma(Answer):
    """D = A * B of one warpgroup.

    Attributes:
        a, b: the operands.
        accumulator: the type of D; the first of `accumulators`.
        pieces: the N of successive instructions.
    """

    a: ChosenOperand
    b: ChosenOperand
    accumulator: Accumulator
    pieces: tuple[int, ...]

    @property
    def accumulators(self) -> tuple[Accumulator, ...]:
        """The legal types of D, the default first."""
        return tuple(accumulators(self.a.spec.element, self.b.spec.element))

    @property
    def m(self) -> int:
        """Rows of D."""
        return self.a.spec.shape[-2]

    @property
    def n(self) -> int:
        """Columns of D."""
        return self.b.spec.shape[-1]

    @property
    def k(self) -> int:
        """Columns of A and rows of B."""
        return self.a.spec.shape[-1]

    @property
    def instructions(self) -> dict[str, int]:
        """The number of executions of each instruction."""
        repeats = self.m // INSTRUCTION_M * (self.k // instruction_k(self.a.spec.element))
        return {self.opcode(n): count * repeats for n, count in Counter(self.pieces).items()}

    def opcode(self, n: int) -> str:
        """Return the instruction with a given N."""
        a, b = self.a.spec.element, self.b.spec.element
        shape = f"m{INSTRUCTION_M}n{n}k{instruction_k(a)}"
        operation = ".and.popc" if a == B1 else ""
        return f"wgmma.mma_async.sync.aligned.{shape}.{self.accumulator}.{a}.{b}{operation}"

    @property
    def transposes(self) -> dict[str, int]:
        """`imm-trans-a` and `imm-trans-b` of the instruction: 1 for M- or N-major. They exist for 16-bit
        types in shared memory only."""
        return {
            f"imm-trans-{operand.role.value}": int(operand.major is Major.MN)
            for operand in (self.a, self.b)
            if operand.spec.element in MN_MAJOR and not operand.in_registers
        }

    @property
    def registers(self) -> int:
        """Registers per thread for 64 rows of D."""
        return INSTRUCTION_M * self.n // WARPGROUP // self.accumulator.per_register


def wgmma_mma_of(a: ChosenOperand, b: ChosenOperand) -> WgmmaMma:
    """Return the MMA of two operands with compatible types and equal K."""
    accumulator = accumulators(a.spec.element, b.spec.element)[0]
    pieces = accumulator.pieces(b.spec.shape[-1])
    assert pieces is not None
    return WgmmaMma(a, b, accumulator, pieces)
