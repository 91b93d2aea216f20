"""The instruction descriptor of `tcgen05.mma` with block scaling (PTX ISA 9.7.16.4.2)."""

from __future__ import annotations

from ..tensor_core.operands import K_BYTES, LONG_K_BYTES
from .descriptors import (
    FLOATS_OF_8,
    Instruction,
    Scales,
    UnknownInstruction,
    check_n,
    decode_field,
    decode_majorness,
)
from .narrow_floats import TCGEN05_MULTIPLICANDS

#: For each kind and scale block (elements that share a factor), the types of scale factors, by their
#: codes.
_FACTORS = {
    ("mxf8f6f4", 32): {1: "ue8m0"},
    ("mxf4", 32): {1: "ue8m0"},
    ("mxf4nvf4", 32): {1: "ue8m0"},
    ("mxf4nvf4", 16): {0: "ue4m3", 1: "ue8m0"},
}

SCALED_KINDS = ("mxf8f6f4", "mxf4", "mxf4nvf4")

#: Bits of an instruction descriptor that must be 0: for all these kinds, for mxf8f6f4, and for the
#: others, which are K-major and have one bit fewer for the type of B.
_ZERO = 3 | 1 << 3 | 1 << 6 | 7 << 24
_ZERO_OF_8_BITS, _ZERO_OF_4_BITS = 1 << 31, 1 << 12 | 3 << 15

#: For each number of factors of a row that an instruction takes, the possible bytes of the first in a
#: word.
_IDS = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,), 3: (0, 1, 2, 3), 6: (0, 2)}


def scaled_instruction(bits: int, kind: str, block: int, group: int = 1) -> Instruction:
    """Decode the 32 bits of an instruction descriptor with block scaling.

    Args:
        bits: the descriptor.
        kind: of the instruction, one of `SCALED_KINDS`.
        block: elements along K that share a scale factor, 16 or 32.
        group: number of CTAs of the instruction (`cta_group`), 1 or 2.

    Raises:
        ValueError: if it is invalid for the kind.
        UnknownInstruction: if the emulator does not support the instruction.
    """
    wide = kind == "mxf8f6f4"
    zero = bits & (_ZERO | (_ZERO_OF_8_BITS if wide else _ZERO_OF_4_BITS))
    if zero:
        raise ValueError(f"{bits:#010x} sets bits {zero:#010x}, which kind::{kind} does not have")
    if bits & 4:
        raise UnknownInstruction("is sparse")
    types = FLOATS_OF_8 if wide else {1: "e2m1x2"}
    a, b = (
        decode_field(f"the type of {name}", bits >> at & 7, types)
        for name, at in (("A", 7), ("B", 10))
    )
    factors = decode_field("the type of the scale factors", bits >> 23 & 1, _FACTORS[kind, block])
    m, n = (bits >> 27 & 3) << 7, (bits >> 17 & 63) << 3
    if (m, group) == (128, 2):
        raise UnknownInstruction("scales 64 rows in each CTA of a pair")
    if m != 128 * group:
        raise ValueError(f"M is {m}; expected {128 * group}")
    a_mn_major, b_mn_major = decode_majorness(bits, a, b)
    check_n(n, False, b_mn_major, group)
    k_bytes = LONG_K_BYTES if bits >> 31 else K_BYTES
    scales = Scales(block, factors, bits >> 29 & 3, bits >> 4 & 3)
    count = (k_bytes if wide else 2 * k_bytes) // block
    for name, first in (("A", scales.a_first), ("B", scales.b_first)):
        if first not in _IDS[count]:
            raise ValueError(
                f"the id of {name}'s scale factors is {first}; expected "
                f"{', '.join(map(str, _IDS[count]))} where an instruction takes {count} of a row"
            )
    return Instruction(
        m,
        n,
        TCGEN05_MULTIPLICANDS[a],
        TCGEN05_MULTIPLICANDS[b],
        "f32",
        a_mn_major,
        b_mn_major,
        -1 if bits >> 13 & 1 else 1,
        -1 if bits >> 14 & 1 else 1,
        False,
        k_bytes,
        scales,
    )
