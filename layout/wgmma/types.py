"""The element types of `wgmma`, and how it reads them (PTX ISA 9.7.15.2, 9.7.15.5.1.2, 9.7.15.5.2)."""

from __future__ import annotations

from ..accumulators import ACC_F16, ACC_F32, ACC_S32, Accumulator
from ..elements import B1, BF16, E4M3, E5M2, F16, S8, TF32, U8, Element

_FLOAT_8 = (E4M3, E5M2)
_INTEGER_8 = (S8, U8)

#: The accumulator types for each pair of types of A and B, the usual one first.
ACCUMULATED: dict[tuple[Element, Element], tuple[Accumulator, ...]] = {
    (F16, F16): (ACC_F32, ACC_F16),
    (BF16, BF16): (ACC_F32,),
    (TF32, TF32): (ACC_F32,),
    **{(a, b): (ACC_F32, ACC_F16) for a in _FLOAT_8 for b in _FLOAT_8},
    **{(a, b): (ACC_S32,) for a in _INTEGER_8 for b in _INTEGER_8},
    (B1, B1): (ACC_S32,),
}

#: Every pair of types of A and B.
TYPE_PAIRS = tuple(ACCUMULATED)

#: The types of A and of B.
MULTIPLICANDS = tuple(dict.fromkeys(a for a, _ in TYPE_PAIRS))

#: Types that are read both K-major and MN-major: 16-bit types only (PTX ISA 9.7.15.5.1.2).
MN_MAJOR = (F16, BF16)

#: Types of a sparse A: all but b1 (PTX ISA 9.7.15.2).
SPARSE = tuple(element for element in MULTIPLICANDS if element != B1)
