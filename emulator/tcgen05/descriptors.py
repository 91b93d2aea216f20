"""The descriptors of `tcgen05.mma`, as PTX ISA 9.7.16.4 has them.

They are written down here anew and know nothing of layouts, so that those they check cannot be wrong in
the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..tensor_core.multiplicands import Multiplicand
from ..tensor_core.operands import K_BYTES, LONG_K_BYTES, Matrix
from .narrow_floats import TCGEN05_MULTIPLICANDS

#: What the mode of swizzling holds: what it swizzles within, and what it moves as a whole, in bytes.
_SWIZZLES = {0: (16, 16), 1: (128, 32), 2: (128, 16), 4: (64, 16), 6: (32, 16)}

#: Bits of a shared memory descriptor that are 0: those of no field.
_ZERO = 3 << 14 | 3 << 30 | 0xFF << 53

#: The bit by which the leading dimension is an address, which is for a K of 48 bytes.
_ABSOLUTE = 1 << 52

#: Bits of an instruction descriptor that are 0 in the kinds below.
_ZERO_OF_INSTRUCTION = 1 << 6 | 1 << 23 | 7 << 29

#: The floats of 8 bits and fewer by their codes; the narrow ones are padded.
FLOATS_OF_8 = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}

#: For each kind, the types of A and B by their codes.
_TYPES = {
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": FLOATS_OF_8,
    "i8": {0: "u8", 1: "s8"},
}

#: For each kind, the types of D by their codes.
_ACCUMULATORS = {
    "f16": {0: "f16", 1: "f32"},
    "tf32": {1: "f32"},
    "f8f6f4": {0: "f16", 1: "f32"},
    "i8": {2: "s32"},
}

KINDS = tuple(_TYPES)

_MAX_N = 256


class UnknownInstruction(Exception):
    """An instruction that the hardware has, but the emulator does not know."""


@dataclass(frozen=True)
class Scales:
    """How an instruction scales blocks.

    Attributes:
        block: elements along K that share a factor.
        factors: their type, "ue8m0" or "ue4m3".
        a_first, b_first: the byte of a word in which the first factor of A is, and of B.
    """

    block: int
    factors: str
    a_first: int
    b_first: int


@dataclass(frozen=True)
class Instruction:
    """What an instruction descriptor says.

    Attributes:
        m, n: rows and columns of D.
        a, b: the types of A and B.
        accumulator: the type of D, "f32", "f16" or "s32".
        a_mn_major, b_mn_major: whether A is M-major, B is N-major.
        a_sign, b_sign: 1, or -1 to negate.
        saturates: whether integer sums stay within 32 bits.
        k_bytes: bytes of K that it reads of each row.
        scales: how it scales blocks; None of a kind that does not.
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
    scales: Scales | None = None


def instruction(bits: int, kind: str, group: int = 1) -> Instruction:
    """What the 32 bits of an instruction descriptor say.

    Args:
        bits: the descriptor.
        kind: the instruction's, of `KINDS`.
        group: how many blocks multiply together, 1 or 2.

    Raises:
        ValueError: if no instruction of that kind is that.
        UnknownInstruction: if the emulator does not know it.
    """
    if bits & _ZERO_OF_INSTRUCTION:
        raise ValueError(
            f"{bits:#010x} sets bits {bits & _ZERO_OF_INSTRUCTION:#010x}, which kind::{kind} has not"
        )
    if bits & 7:
        raise UnknownInstruction("is sparse")
    types = _TYPES[kind]
    a, b = (
        decode_field(f"the type of {name}", bits >> at & 7, types)
        for name, at in (("A", 7), ("B", 10))
    )
    accumulator = decode_field("the type of D", bits >> 4 & 3, _ACCUMULATORS[kind])
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
    a_mn_major, b_mn_major = decode_majorness(bits, a, b)
    if m not in (64 * group, 128 * group):
        raise ValueError(f"M is {m}; expected {64 * group} or {128 * group}")
    eight_bits = TCGEN05_MULTIPLICANDS[b].dtype.itemsize == 1
    check_n(n, kind == "i8", b_mn_major and eight_bits, group)
    return Instruction(
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


def decode_field(what: str, code: int, codes: dict[int, str]) -> str:
    """What a field's code means."""
    if code not in codes:
        known = ", ".join(f"{its} ({meaning})" for its, meaning in codes.items())
        raise ValueError(f"{what} is {code}; expected {known}")
    return codes[code]


def decode_majorness(bits: int, a: str, b: str) -> tuple[bool, bool]:
    """Whether A is M-major, and B N-major."""
    found = bool(bits >> 15 & 1), bool(bits >> 16 & 1)
    for name, type_, letter, mn_major in zip("AB", (a, b), "MN", found, strict=True):
        if mn_major and TCGEN05_MULTIPLICANDS[type_].is_padded:
            raise UnknownInstruction(f"has an {letter}-major {name} of {type_}")
    return found


def check_n(n: int, integers: bool, bytes_n_major: bool, group: int) -> None:
    """Checks N (9.7.16.2.1): it counts by 8, of integers by 16 beyond 32, and by 16 if B is of 8 bits and
    N-major (9.7.16.10.3); of two blocks by twice as many, and always so of integers."""
    step = group * (16 if bytes_n_major or (integers and (n > 32 or group == 2)) else 8)
    if n % step or not step <= n <= _MAX_N:
        raise ValueError(f"N is {n}; expected a multiple of {step} from {step} to {_MAX_N}")


def matrix(bits: int, mn_major: bool, size: int, k_bytes: int = K_BYTES) -> Matrix:
    """The operand that the 64 bits of a shared memory descriptor say.

    Args:
        bits: the descriptor.
        mn_major: whether the operand is M- or N-major.
        size: bytes of an element.
        k_bytes: bytes of K that are read of each row.

    Raises:
        ValueError: if it is none, or swizzles as the operand cannot be.
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
            f"{bits:#018x} swizzles by mode {mode}, but is {major} of {size} bytes; mode 1 is for what "
            "is M- or N-major of 4 bytes, and nothing else is"
        )
    base_offset = bits >> 49 & 7
    if base_offset and mode == 0:
        raise ValueError(f"{bits:#018x} has base offset {base_offset} without swizzle; expected 0")
    start, lbo, sbo = ((bits >> at & 0x3FFF) << 4 for at in (0, 16, 32))
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
            "beyond them they go on only where the leading dimension is absolute"
        )
    return Matrix(start, lbo, sbo, base_offset, width, unit, absolute)
