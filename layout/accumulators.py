"""Accumulator types of MMA instructions."""

from __future__ import annotations

from dataclasses import dataclass

from .instruction import FLOAT_N, INTEGER_N, cut_columns


@dataclass(frozen=True)
class Accumulator:
    """An accumulator type.

    Attributes:
        name: the ISA's name, without the dot.
        per_register: elements that one 32-bit register holds.
        integer: whether it is an integer type; N is then one of `INTEGER_N`.
    """

    name: str
    per_register: int = 1
    integer: bool = False

    def pieces(self, n: int) -> tuple[int, ...] | None:
        """Return the N of successive instructions that compute N columns, or None."""
        return cut_columns(INTEGER_N if self.integer else FLOAT_N, n)

    def __str__(self) -> str:
        return self.name


ACC_F32 = Accumulator("f32")
ACC_F16 = Accumulator("f16", per_register=2)
ACC_S32 = Accumulator("s32", integer=True)

ACCUMULATORS = {a.name: a for a in (ACC_F32, ACC_F16, ACC_S32)}
