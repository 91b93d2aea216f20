"""The descriptors of `tcgen05.mma` (PTX ISA 9.7.16.4).

These decoders do not use the code of layouts, so that an error in the encoders cannot repeat here.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..tensor_core.multiplicands import Multiplicand
from ..tensor_core.operands import K_BYTES, LONG_K_BYTES, MatrixDescriptorFields
from .narrow_floats import TCGEN05_MULTIPLICANDS

#: The width and the unit of each swizzling mode, in bytes.
_SWIZZLES = {0: (16, 16), 1: (128, 32), 2: (128, 16), 4: (64, 16), 6: (32, 16)}

#: Bits of a shared memory descriptor that belong to no field and must be 0.
_ZERO = 3 << 14 | 3 << 30 | 0xFF << 53

#: The bit for an absolute leading dimension, which is an address; only for a K of 48 bytes.
_ABSOLUTE = 1 << 52

#: Bits of an instruction descriptor without block scaling that must be 0.
_ZERO_OF_INSTRUCTION = 1 << 6 | 1 << 23 | 7 << 29

#: Float types of at most 8 bits, by their codes; those of 4 and 6 bits are padded.
_FLOATS_OF_8 = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}

#: For each kind, the types of A and B, by their codes.
_TYPES = {
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": _FLOATS_OF_8,
    "i8": {0: "u8", 1: "s8"},
}

#: For each kind, the types of D, by their codes.
_ACCUMULATORS = {
    "f16": {0: "f16", 1: "f32"},
    "tf32": {1: "f32"},
    "f8f6f4": {0: "f16", 1: "f32"},
    "i8": {2: "s32"},
}

KINDS = tuple(_TYPES)

#: For each kind and scale block (elements that share a factor), the types of scale factors, by their
#: codes.
_FACTOR_TYPES = {
    ("mxf8f6f4", 32): {1: "ue8m0"},
    ("mxf4", 32): {1: "ue8m0"},
    ("mxf4nvf4", 32): {1: "ue8m0"},
    ("mxf4nvf4", 16): {0: "ue4m3", 1: "ue8m0"},
}

SCALED_KINDS = ("mxf8f6f4", "mxf4", "mxf4nvf4")

#: Bits of an instruction descriptor with block scaling that must be 0: for all kinds, for mxf8f6f4, and
#: for the others, which are K-major and have one bit fewer for the type of B.
_ZERO_OF_SCALED = 3 | 1 << 3 | 1 << 6 | 7 << 24
_ZERO_OF_8_BITS, _ZERO_OF_4_BITS = 1 << 31, 1 << 12 | 3 << 15

#: For each number of factors of a row that an instruction takes, the possible bytes of the first in a
#: word.
_FACTOR_IDS = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,), 3: (0, 1, 2, 3), 6: (0, 2)}

_MAX_N = 256


class UnknownInstruction(Exception):
    """An instruction of the hardware that the emulator does not support."""


@dataclass(frozen=True)
class ScaleFactorFields:
    """The block scaling of an instruction.

    Attributes:
        block: elements along K that share a scale factor.
        factors: the type of scale factors, "ue8m0" or "ue4m3".
        a_first, b_first: the byte of a word that is the first factor of A, and of B (the scale factor
            data IDs).
    """

    block: int
    factors: str
    a_first: int
    b_first: int


@dataclass(frozen=True)
class InstructionDescriptorFields:
    """A decoded instruction descriptor.

    Attributes:
        m, n: rows and columns of D.
        a, b: the element types of A and B.
        accumulator: the type of D, "f32", "f16" or "s32".
        a_mn_major, b_mn_major: whether A is M-major, B is N-major.
        a_sign, b_sign: 1, or -1 to negate.
        saturates: whether integer sums saturate to 32 bits.
        k_bytes: bytes along K that it reads of each row.
        scales: the block scaling; None for a kind without it.
    """

    m: int
    n: int
    a: Multiplicand
    b: Multiplicand
    accumulator: str
    a_mn_major: bool
    b_mn_major: bool
    a_sign: int
    b_sign: int
    saturates: bool
    k_bytes: int = K_BYTES
    scales: ScaleFactorFields | None = None


def decode_instruction(bits: int, kind: str, group: int = 1) -> InstructionDescriptorFields:
    """Decode the 32 bits of an instruction descriptor.

    Args:
        bits: the descriptor.
        kind: of the instruction, one of `KINDS`.
        group: number of CTAs of the instruction (`cta_group`), 1 or 2.

    Raises:
        ValueError: if it is invalid for the kind.
        UnknownInstruction: if the emulator does not support the instruction.
    """
    if bits & _ZERO_OF_INSTRUCTION:
        raise ValueError(
            f"{bits:#010x} sets bits {bits & _ZERO_OF_INSTRUCTION:#010x}, which kind::{kind} does not "
            "have"
        )
    if bits & 7:
        raise UnknownInstruction("is sparse")
    types = _TYPES[kind]
    a, b = (
        _decode_field(f"the type of {name}", bits >> first_bit & 7, types)
        for name, first_bit in (("A", 7), ("B", 10))
    )
    accumulator = _decode_field("the type of D", bits >> 4 & 3, _ACCUMULATORS[kind])
    if kind == "f16" and a != b:
        raise UnknownInstruction(f"multiplies {a} by {b}")
    if accumulator == "f16" and a == "bf16":
        raise ValueError(
            "the type of D is 0 (f16), but those of A and B are bf16; expected 1 (f32)"
        )
    saturates, negates = bits >> 3 & 1, bits >> 13 & 3
    if saturates and kind != "i8":
        raise ValueError(f"it saturates, which kind::{kind} does not")
    if negates and kind == "i8":
        raise ValueError(f"it negates, which kind::{kind} does not")
    m, n = (bits >> 24 & 31) << 4, (bits >> 17 & 63) << 3
    a_mn_major, b_mn_major = _decode_majorness(bits, a, b)
    if m not in (64 * group, 128 * group):
        raise ValueError(f"M is {m}; expected {64 * group} or {128 * group}")
    eight_bits = TCGEN05_MULTIPLICANDS[b].dtype.itemsize == 1
    _check_n(n, kind == "i8", b_mn_major and eight_bits, group)
    return InstructionDescriptorFields(
        m,
        n,
        TCGEN05_MULTIPLICANDS[a],
        TCGEN05_MULTIPLICANDS[b],
        accumulator,
        a_mn_major,
        b_mn_major,
        -1 if negates & 1 else 1,
        -1 if negates & 2 else 1,
        bool(saturates),
    )


def decode_scaled_instruction(
    bits: int, kind: str, block: int, group: int = 1
) -> InstructionDescriptorFields:
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
    zero = bits & (_ZERO_OF_SCALED | (_ZERO_OF_8_BITS if wide else _ZERO_OF_4_BITS))
    if zero:
        raise ValueError(f"{bits:#010x} sets bits {zero:#010x}, which kind::{kind} does not have")
    if bits & 4:
        raise UnknownInstruction("is sparse")
    types = _FLOATS_OF_8 if wide else {1: "e2m1x2"}
    a, b = (
        _decode_field(f"the type of {name}", bits >> first_bit & 7, types)
        for name, first_bit in (("A", 7), ("B", 10))
    )
    factors = _decode_field(
        "the type of the scale factors", bits >> 23 & 1, _FACTOR_TYPES[kind, block]
    )
    m, n = (bits >> 27 & 3) << 7, (bits >> 17 & 63) << 3
    if (m, group) == (128, 2):
        raise UnknownInstruction("scales 64 rows in each CTA of a pair")
    if m != 128 * group:
        raise ValueError(f"M is {m}; expected {128 * group}")
    a_mn_major, b_mn_major = _decode_majorness(bits, a, b)
    _check_n(n, False, b_mn_major, group)
    k_bytes = LONG_K_BYTES if bits >> 31 else K_BYTES
    scales = ScaleFactorFields(block, factors, bits >> 29 & 3, bits >> 4 & 3)
    count = (k_bytes if wide else 2 * k_bytes) // block
    for name, first in (("A", scales.a_first), ("B", scales.b_first)):
        if first not in _FACTOR_IDS[count]:
            raise ValueError(
                f"the id of {name}'s scale factors is {first}; expected "
                f"{', '.join(map(str, _FACTOR_IDS[count]))} where an instruction takes {count} of a row"
            )
    return InstructionDescriptorFields(
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


def _decode_field(field: str, code: int, codes: dict[int, str]) -> str:
    """Return the value that the code of a field stands for."""
    if code not in codes:
        expected = ", ".join(f"{expected_code} ({value})" for expected_code, value in codes.items())
        raise ValueError(f"{field} is {code}; expected {expected}")
    return codes[code]


def _decode_majorness(bits: int, a: str, b: str) -> tuple[bool, bool]:
    """Return whether A is M-major, and whether B is N-major."""
    mn_majors = bool(bits >> 15 & 1), bool(bits >> 16 & 1)
    for name, type_, letter, mn_major in zip("AB", (a, b), "MN", mn_majors, strict=True):
        if mn_major and TCGEN05_MULTIPLICANDS[type_].is_padded:
            raise UnknownInstruction(f"has an {letter}-major {name} of {type_}")
    return mn_majors


def _check_n(n: int, integers: bool, bytes_n_major: bool, group: int) -> None:
    """Check N (9.7.16.2.1). N is a multiple of 8; of 16 for integers beyond 32, and if B has 8 bits and
    is N-major (9.7.16.10.3). With two CTAs it is a multiple of twice that, and of 32 for all integers."""
    step = group * (16 if bytes_n_major or (integers and (n > 32 or group == 2)) else 8)
    if n % step or not step <= n <= _MAX_N:
        raise ValueError(f"N is {n}; expected a multiple of {step} from {step} to {_MAX_N}")


def decode_matrix(
    bits: int, mn_major: bool, size: int, k_bytes: int = K_BYTES
) -> MatrixDescriptorFields:
    """Decode the 64 bits of a shared memory descriptor.

    Args:
        bits: the descriptor.
        mn_major: whether the operand is M- or N-major, not K-major.
        size: bytes of an element.
        k_bytes: bytes along K that are read of each row.

    Raises:
        ValueError: if it is invalid, or its swizzle does not fit the operand.
    """
    zero = _ZERO if k_bytes == LONG_K_BYTES else _ZERO | _ABSOLUTE
    if bits & zero:
        raise ValueError(f"{bits:#018x} sets bits {bits & zero:#018x}, which must be 0")
    version, mode = bits >> 46 & 7, bits >> 61
    if version != 1:
        raise ValueError(f"{bits:#018x} has {version} in bits 46 to 48; expected 1")
    if mode not in _SWIZZLES:
        raise ValueError(
            f"{bits:#018x} swizzles by mode {mode}; expected {', '.join(map(str, _SWIZZLES))}"
        )
    width, unit = _SWIZZLES[mode]
    if (unit == 32) != (mn_major and size == 4):
        major = "M- or N-major" if mn_major else "K-major"
        raise ValueError(
            f"{bits:#018x} swizzles by mode {mode}, but is {major} of {size} bytes; mode 1 is for "
            "M- or N-major elements of 4 bytes, which take no other mode"
        )
    base_offset = bits >> 49 & 7
    if base_offset and mode == 0:
        raise ValueError(f"{bits:#018x} has base offset {base_offset} without swizzle; expected 0")
    start, lbo, sbo = ((bits >> first_bit & 0x3FFF) << 4 for first_bit in (0, 16, 32))
    absolute = bool(bits & _ABSOLUTE)
    if absolute and (mode != 2 or base_offset):
        raise ValueError(
            f"{bits:#018x} has an absolute leading dimension with mode {mode} and base offset "
            f"{base_offset}; expected mode 2 and 0"
        )
    room = width - start % width
    if absolute and room < k_bytes and lbo % width + k_bytes - room > width:
        raise ValueError(
            f"{bits:#018x} reads {k_bytes - room} of the {k_bytes} bytes of each row from {lbo:#x} on, "
            f"{lbo % width} bytes into a line of {width}; expected both chunks within their lines"
        )
    if k_bytes == LONG_K_BYTES and mode and not absolute and start % width + k_bytes > width:
        raise ValueError(
            f"{bits:#018x} has rows of {k_bytes} bytes that begin {start % width} bytes into {width}; "
            "rows continue beyond that only with an absolute leading dimension"
        )
    return MatrixDescriptorFields(start, lbo, sbo, base_offset, width, unit, absolute)
