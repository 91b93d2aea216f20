"""Types of elements in fragments: accumulators of MMA instructions, and others in their positions."""

from __future__ import annotations

from dataclasses import dataclass

from .instruction import FLOAT_N, INTEGER_N, cut_columns


@dataclass(frozen=True)
class Accumulator:
    """An accumulator type.

    Attributes:
        name: the ISA's name, without the dot.
        per_register: elements that one 32-bit register holds.
        integer: whether it is an integer type of instructions; N is then one of `INTEGER_N`.
        computed: whether there are instructions that accumulate in it.
    """

    name: str
    per_register: int = 1
    integer: bool = False
    computed: bool = True

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return 32 // self.per_register

    @property
    def columns(self) -> int:
        """The divisor of N: a thread holds 4 elements of 8 columns, and its registers are full."""
        return max(8, 2 * self.per_register)

    def pieces(self, n: int) -> tuple[int, ...] | None:
        """Return the N of successive instructions that compute N columns, or None."""
        if n % self.columns:
            return None
        return cut_columns(INTEGER_N if self.integer else FLOAT_N, n)

    def __str__(self) -> str:
        return self.name


ACC_F32 = Accumulator("f32")
ACC_F16 = Accumulator("f16", per_register=2)
ACC_S32 = Accumulator("s32", integer=True)

ACCUMULATORS = {a.name: a for a in (ACC_F32, ACC_F16, ACC_S32)}

#: Types in which no instruction accumulates. Fragments have them in the positions of D.
HELD = {
    name: Accumulator(name, per_register=32 // bits, computed=False)
    for name, bits in (
        *(("bf16", 16), ("s16", 16), ("s8", 8), ("u8", 8), ("e4m3", 8), ("e5m2", 8)),
        *(("s4", 4), ("u4", 4)),
    )
}
