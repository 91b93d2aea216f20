"""The types in which products are added."""

from __future__ import annotations

from dataclasses import dataclass

from .instruction import FLOAT_N, INTEGER_N, cut_columns


@dataclass(frozen=True)
class Accumulator:
    """A type in which products are added.

    Attributes:
        name: the ISA's name, without the dot.
        per_register: elements that one 32-bit register holds.
        integer: whether it adds integers; N then has the steps of the integer instructions.
    """

    name: str
    per_register: int = 1
    integer: bool = False

    def pieces(self, n: int) -> tuple[int, ...] | None:
        """How N columns are cut into instructions; None if they cannot be."""
        return cut_columns(INTEGER_N if self.integer else FLOAT_N, n)

    def __str__(self) -> str:
        return self.name


ACC_F32 = Accumulator("f32")
ACC_F16 = Accumulator("f16", per_register=2)
ACC_S32 = Accumulator("s32", integer=True)

ACCUMULATORS = {a.name: a for a in (ACC_F32, ACC_F16, ACC_S32)}
