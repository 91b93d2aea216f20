"""The kinds of `tcgen05.mma`: the element types and the accumulator types of each (PTX ISA 9.7.16.2)."""

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

#: The types of A and of B.
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

#: Types that are read both K-major and MN-major (PTX ISA 9.7.16.3, table of majornesses by type).
MN_MAJOR = (F16, BF16, TF32, E4M3, E5M2, S8, U8)

#: The encodings of A's and B's types (PTX ISA, tables of the instruction descriptor). A 4-bit float has
#: one code if it is padded, and another if it is packed.
_FLOAT_8_CODES = {E4M3: 0, E5M2: 1, E2M3_P32: 3, E3M2_P32: 4, E2M1_P64: 5}

#: Types of scale factors, and their encodings.
SCALE_TYPES = {"ue4m3": 0, "ue8m0": 1}


@dataclass(frozen=True)
class Kind:
    """A `.kind` of the instruction.

    Attributes:
        name: the ISA's name, without the dot.
        codes: the types of A and B, with their encodings.
        accumulators: the types that D can have, the usual one first.
        same: whether A and B must have the same type.
        scales: for a block-scaled kind, each (type of a scale factor, elements along K that share it);
            the usual one first.
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
        """Whether the kind multiplies A and B of these types."""
        return a in self.codes and b in self.codes and (a == b or not self.same)

    def accumulators_of(self, a: Element) -> tuple[str, ...]:
        """Return the types that D can have for an A of that type: bf16 is not accumulated in f16."""
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
    """Return the first kind that multiplies A and B of these types with scale factors of that type, one
    for each `block` elements along K, or None."""
    fitting = (k for k in KINDS.values() if k.multiplies(a, b) and (scale, block) in k.scales)
    return next(fitting, None)


def kind_of(a: Element, b: Element, scaled: bool = False) -> Kind | None:
    """Return the first kind that multiplies A and B of these types, or None.

    Args:
        a, b: the element types of A and B.
        scaled: whether the kind is block-scaled.
    """
    fitting = (k for k in KINDS.values() if k.multiplies(a, b) and bool(k.scales) == scaled)
    return next(fitting, None)
