"""The kinds of `tcgen05.mma`: which types each multiplies, and what it adds in (PTX ISA 9.7.16.2)."""

from __future__ import annotations

from dataclasses import dataclass

from ..elements import (
    BF16,
    E2M1,
    E2M1_P64,
    E2M3_P32,
    E3M2_P32,
    E4M3,
    E5M2,
    F16,
    S8,
    TF32,
    U8,
    Element,
)

#: The types that are multiplied.
MULTIPLICANDS = (
    F16,
    BF16,
    TF32,
    E4M3,
    E5M2,
    S8,
    U8,
    E2M1,
    E2M1_P64,
    E2M3_P32,
    E3M2_P32,
)

#: Those that are read MN-major, too (PTX ISA 9.7.16.3, table of majors by type).
MN_MAJOR = (F16, BF16, TF32, E4M3, E5M2, S8, U8)

#: What the fields of A's and B's types hold (PTX ISA, tables of the instruction descriptor). A 4-bit
#: float has one code as it is padded, and another as it is packed.
_FLOAT_8_CODES = {E4M3: 0, E5M2: 1, E2M3_P32: 3, E3M2_P32: 4, E2M1_P64: 5}

#: Types of the scale factors of blocks, and what their field holds.
SCALE_TYPES = {"ue4m3": 0, "ue8m0": 1}


@dataclass(frozen=True)
class Kind:
    """A `.kind` of the instruction.

    Attributes:
        name: the ISA's name, without the dot.
        codes: its multiplicands, with what the fields of their types hold.
        accumulators: the types that D can have, the usual one first.
        same: whether A and B have one type.
        scales: for a block-scaled kind, the types of its scale factors and the elements along K that
            share one, in every combination; the usual one first.
        negates: whether A and B can be negated.
        saturates: whether D can be saturated.
    """

    name: str
    codes: dict[Element, int]
    accumulators: tuple[str, ...] = ("f32",)
    same: bool = False
    scales: tuple[tuple[str, int], ...] = ()
    negates: bool = True
    saturates: bool = False

    def __hash__(self) -> int:
        return hash(self.name)

    def multiplies(self, a: Element, b: Element) -> bool:
        """Whether it multiplies A and B of these types."""
        return a in self.codes and b in self.codes and (a == b or not self.same)

    def accumulators_of(self, a: Element) -> tuple[str, ...]:
        """The types that D can have for an A of that type: sums of bf16 are not kept in f16."""
        return self.accumulators[:1] if a == BF16 else self.accumulators

    def __str__(self) -> str:
        return self.name


_MX = (("ue8m0", 32),)

KINDS = {
    kind.name: kind
    for kind in (
        Kind("f16", {F16: 0, BF16: 1}, ("f32", "f16"), same=True),
        Kind("tf32", {TF32: 2}),
        Kind("f8f6f4", _FLOAT_8_CODES, ("f32", "f16")),
        Kind("i8", {U8: 0, S8: 1}, ("s32",), negates=False, saturates=True),
        Kind("mxf8f6f4", _FLOAT_8_CODES, scales=_MX),
        Kind("mxf4", {E2M1: 1}, scales=_MX),
        Kind("mxf4nvf4", {E2M1: 1}, scales=(("ue4m3", 16), ("ue8m0", 16), ("ue8m0", 32))),
    )
}


def scaled_kind(a: Element, b: Element, scale: str, block: int) -> Kind | None:
    """The first kind that multiplies A and B of these types with factors of that type, one for each
    `block` elements along K; None if there is none."""
    fitting = (k for k in KINDS.values() if k.multiplies(a, b) and (scale, block) in k.scales)
    return next(fitting, None)


def kind_of(a: Element, b: Element, scaled: bool = False) -> Kind | None:
    """The first kind that multiplies A and B of these types; None if there is none.

    Args:
        a, b: the types of A and B.
        scaled: whether it has to scale blocks.
    """
    fitting = (k for k in KINDS.values() if k.multiplies(a, b) and bool(k.scales) == scaled)
    return next(fitting, None)
