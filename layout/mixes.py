"""Which multiplicands go together, and in which types their products are added (PTX ISA 9.7.15.5.2 for
`wgmma`, 9.7.16.2 for `tcgen05`; `Arch.objection` says which of the two multiplies a pair)."""

from __future__ import annotations

from dataclasses import dataclass

from .elements import B1, BF16, E2M1_P64, E2M3_P32, E3M2_P32, E4M3, E5M2, F16, S8, TF32, U8, Element
from .instruction import n_pieces


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
        return n_pieces(S8 if self.integer else F16, n)

    def __str__(self) -> str:
        return self.name


ACC_F32 = Accumulator("f32")
ACC_F16 = Accumulator("f16", per_register=2)
ACC_S32 = Accumulator("s32", integer=True)

ACCUMULATORS = {a.name: a for a in (ACC_F32, ACC_F16, ACC_S32)}

_FLOAT_8 = (E4M3, E5M2)
_FLOATS = (*_FLOAT_8, E2M3_P32, E3M2_P32, E2M1_P64)
_INTEGER_8 = (S8, U8)

#: The accumulators of each pair of types of A and B, the usual one first.
_MIXES: dict[tuple[Element, Element], tuple[Accumulator, ...]] = {
    (F16, F16): (ACC_F32, ACC_F16),
    (BF16, BF16): (ACC_F32,),
    (TF32, TF32): (ACC_F32,),
    **{(a, b): (ACC_F32, ACC_F16) for a in _FLOATS for b in _FLOATS},
    **{(a, b): (ACC_S32,) for a in _INTEGER_8 for b in _INTEGER_8},
    (B1, B1): (ACC_S32,),
}

#: Every pair of types of A and B that `wgmma` multiplies.
MIXES = tuple((a, b) for a, b in _MIXES if a.multiplied and b.multiplied)


def accumulators(a: Element, b: Element) -> tuple[Accumulator, ...]:
    """The types in which A * B can be accumulated; none if the two do not go together."""
    return _MIXES.get((a, b), ())


def partners(a: Element) -> tuple[Element, ...]:
    """The types that B can have beside an A of that type, those of `wgmma` first."""
    return tuple(second for first, second in _MIXES if first == a)
