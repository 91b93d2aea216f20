"""Suspicious values of a descriptor: each suspicion has a name, for programs, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..layout import Arch, Descriptor, Major, Swizzle, base_offset
from ..layout.banks import MAX_BYTES
from ..layout.descriptor import BASE_OFFSET, field_of, mask_of
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES
from ..layout.swizzle import PHASE_BIT
from ..layout.tcgen05 import LBO_MODE, LONG_K_BYTES, VERSION
from .answer import Answer
from .reading import Reading

#: End of a CTA's shared memory, which starts after 1 KB that the system reserves.
SHARED_END = MAX_BYTES + 1024


_LINE = 1 << PHASE_BIT


@dataclass(frozen=True)
class Suspicion(Answer):
    """A value that is wrong, or right only in rare cases.

    Attributes:
        name: its name.
        text: a sentence with the values.
    """

    name: str
    text: str


def decode_without_reserved(bits: int, arch: Arch = Arch.SM_90) -> Descriptor:
    """Return the descriptor with reserved bits cleared and fixed fields set."""
    encoding = arch.descriptor
    clean = bits & ~encoding.reserved()
    for field, value in encoding.fixed.items():
        clean = clean & ~mask_of(field) | value << field[0]
    if field_of(clean, encoding.mode) not in encoding.modes.values():
        clean &= ~mask_of(encoding.mode)
    swizzle = encoding.decode(clean & ~mask_of(BASE_OFFSET, LBO_MODE)).swizzle
    if not arch.has_absolute_lbo or swizzle is not Swizzle.B128:
        clean &= ~mask_of(LBO_MODE)
    if swizzle is Swizzle.NONE or clean & mask_of(LBO_MODE):
        clean &= ~mask_of(BASE_OFFSET)
    return encoding.decode(clean)


def field_suspicions(
    bits: int, tile: int | None = None, arch: Arch = Arch.SM_90
) -> Iterator[Suspicion]:
    """Yield the suspicions that depend on the fields alone.

    Args:
        bits: the 64 bits.
        tile: start address of the tile that contains the operand, if it is known.
        arch: the architecture.
    """
    encoding, reserved = arch.descriptor, bits & arch.descriptor.reserved()
    version = field_of(bits, VERSION)
    versioned = VERSION in encoding.fixed
    if not versioned and version == 1:
        reserved &= ~mask_of(VERSION)
        yield Suspicion(
            "tcgen05-version",
            "bits 46-48 are 1, the version of a tcgen05 descriptor; wgmma descriptors have no version: "
            "--arch sm_100 decodes it as tcgen05",
        )
    elif versioned and version != 1:
        hint = "" if version else ": --arch sm_90 decodes it as wgmma"
        yield Suspicion(
            "version",
            f"bits 46-48 are {version}, but the version of a tcgen05 descriptor is 1{hint}",
        )
    if reserved:
        yield Suspicion(
            "reserved-bits",
            f"the bits {reserved:#018x} belong to no field of a {encoding.reader} descriptor and must "
            "be 0",
        )
    mode = field_of(bits, encoding.mode)
    if mode not in encoding.modes.values():
        mode_names = ", ".join(f"{field} ({swizzle})" for swizzle, field in encoding.modes.items())
        yield Suspicion(
            "swizzle-mode",
            f"the swizzling mode is {mode}, which is undefined and decoded as none; expected one of "
            f"{mode_names}",
        )
    descriptor, base_offset_field = decode_without_reserved(bits, arch), field_of(bits, BASE_OFFSET)
    if versioned and field_of(bits, LBO_MODE):
        yield from _absolute_lbo_suspicions(descriptor, base_offset_field, arch)
    if getattr(descriptor, "absolute", False):
        return
    if descriptor.swizzle is not Swizzle.NONE:
        yield from _base_offset_suspicions(descriptor, tile)
    elif base_offset_field:
        yield Suspicion(
            "base-offset-without-swizzle",
            f"the base offset is {base_offset_field}, but without swizzle it must be 0",
        )


def _absolute_lbo_suspicions(
    d: Descriptor, base_offset_field: int, arch: Arch
) -> Iterator[Suspicion]:
    """Check an absolute LBO (PTX ISA 9.7.16.3.1.2.1).

    Args:
        d: the descriptor, without reserved bits.
        base_offset_field: the base offset as encoded.
        arch: the architecture.
    """
    if not arch.has_absolute_lbo:
        yield Suspicion(
            "absolute-arch",
            f"bit 52 makes LBO an absolute address, which only sm_103 has; it must be 0 on {arch}",
        )
    elif d.swizzle is not Swizzle.B128:
        yield Suspicion(
            "absolute-swizzle",
            f"LBO is an absolute address (bit 52), which needs swizzle 128B with 16-byte atomicity, not "
            f"{d.swizzle}; it is decoded as a relative offset",
        )
    else:
        if base_offset_field:
            yield Suspicion(
                "absolute-base-offset",
                "LBO is an absolute address (bit 52), so the base offset must be 0, not "
                f"{base_offset_field}",
            )
        pattern = d.swizzle.pattern_bytes
        if d.start % pattern >= d.swizzle.width:
            yield Suspicion(
                "absolute-start",
                f"LBO is an absolute address (bit 52), and the start {d.start:#x} is {d.start % pattern} "
                f"bytes into the {pattern} of a {d.swizzle} pattern; without base offset, it must be in "
                "the first line",
            )
        if d.lbo % pattern:
            yield Suspicion(
                "absolute-lbo",
                f"LBO is the address {d.lbo:#x}, not a multiple of {pattern}: the second chunk of "
                "each row does not start at a swizzle pattern",
            )


def _base_offset_suspicions(d: Descriptor, tile: int | None) -> Iterator[Suspicion]:
    """Check that the base offset is the phase of the swizzle pattern at the start."""
    pattern = d.swizzle.pattern_bytes
    begin = d.start if tile is None else tile
    within, line = begin % pattern, begin // _LINE * _LINE
    # An operand may start anywhere in the first line of its tile, as K blocks do.
    along_line = d.swizzle.width if tile is None else 1
    expected = base_offset(line, d.swizzle) if begin - line < along_line else None
    phase = d.base_offset % (pattern // _LINE)
    needs = (
        f"needs base offset {expected}"
        if expected is not None
        else f"cannot have this swizzle: a pattern starts at a multiple of {_LINE}"
    )
    if tile is None and within >= d.swizzle.width and not phase:
        yield Suspicion(
            "start-off-pattern",
            f"the start {d.start:#x} is {within} bytes into the {pattern} of a {d.swizzle} pattern, and "
            f"the base offset is 0: right for a subtile of a tile that is aligned to {pattern}, but a "
            f"tile that starts here {needs}",
        )
    elif phase != expected:
        where = f"a tile that starts at {line:#x}" if tile is None else f"the tile at {tile:#x}"
        yield Suspicion("base-offset", f"the base offset is {d.base_offset}, but {where} {needs}")


def reading_suspicions(reading: Reading) -> Iterator[Suspicion]:
    """Yield the suspicions about the operand that an instruction reads."""
    d = reading.descriptor
    if not reading.is_legal:
        yield _illegal_operand(reading)
        return
    form, steps, atom = reading.form, reading.steps, d.swizzle.atom_bytes
    assert form is not None
    if "LBO" not in form.text and d.lbo not in (0, UNIT_BYTES) and not reading.absolute:
        yield Suspicion(
            "lbo-ignored",
            f"LBO is {d.lbo} bytes, but it is not used for a {reading.major} operand with swizzle "
            f"{d.swizzle}; usual values are 0 and 1 (16 bytes)",
        )
    # The mode with 32-byte atomicity repeats after four lines, but is aligned to eight.
    repeats = min(atom, d.swizzle.pattern_bytes)
    for name, step in steps.items():
        if step < atom:
            yield Suspicion(
                f"{name.lower()}-small",
                f"{name} is {step} bytes, less than the {atom} of the {d.swizzle.lines} lines of "
                f"{d.swizzle.width} bytes that it steps over",
            )
        elif step % repeats:
            yield Suspicion(
                f"{name.lower()}-off-pattern",
                f"{name} is {step} bytes, not a multiple of the {repeats} after which the swizzle "
                f"{d.swizzle} repeats: consecutive atoms are swizzled differently",
            )
    if reading.has_overlap and not reading.with_exchanged_offsets.has_overlap:
        yield Suspicion(
            "exchanged",
            f"LBO {d.lbo} and SBO {d.sbo} look exchanged: with LBO {d.sbo} and SBO {d.lbo} no two "
            "elements overlap",
        )
    if reading.overlap is not None:
        (r, k), (r2, k2) = reading.overlap
        yield Suspicion(
            "overlap",
            f"elements ({r},{k}) and ({r2},{k2}) of (m/n, k) are both read at "
            f"{reading.addresses[r, k]:#x}",
        )
    yield from _extent_suspicions(reading)


def _illegal_operand(reading: Reading) -> Suspicion:
    """Return why the instructions cannot read the operand."""
    element, arch, d = reading.element, reading.arch, reading.descriptor
    modes = arch.swizzles_of(element, reading.major)
    if not arch.multiplies(element):
        return Suspicion("type", f"{element} is not an A or B element type of {arch.instructions}")
    reader = arch.descriptor.reader
    if not modes:
        mn_major_text = "" if arch.kinds else "; MN-major is for 16-bit types"
        return Suspicion("type", f"{reader} reads {element} K-major only{mn_major_text}")
    if d.swizzle not in modes:
        return Suspicion(
            "swizzle",
            f"{reader} reads {element} {reading.major} with swizzle {' or '.join(map(str, modes))}, not "
            f"{d.swizzle}",
        )
    if reading.k_bytes not in arch.k_bytes:
        return Suspicion(
            "k-bytes",
            f"K is {reading.k_bytes} bytes, but {arch} reads {' or '.join(map(str, arch.k_bytes))}",
        )
    if reading.absolute and reading.major is Major.MN:
        return Suspicion(
            "absolute-major",
            "LBO is an absolute address (bit 52), which needs a K-major operand, but this one is "
            "MN-major",
        )
    long = reading.k_bytes == LONG_K_BYTES
    if long and not (element.bits == 4 and d.swizzle is Swizzle.B128):
        return Suspicion(
            "k-bytes",
            f"K is {LONG_K_BYTES} bytes, which needs e2m1 with swizzle 128B, not {element} with "
            f"{d.swizzle}",
        )
    assert reading.row_problem is not None
    absolute = "absolute-chunk" if long else "absolute-k"
    return Suspicion(absolute if reading.absolute else "row-end", reading.row_problem)


def _extent_suspicions(reading: Reading) -> Iterator[Suspicion]:
    d = reading.descriptor
    line = d.swizzle.atom_elements(reading.element)
    if reading.major is Major.MN and d.swizzle is not Swizzle.NONE and reading.rows < line:
        yield Suspicion(
            "swizzle-wide",
            f"a line of the {d.swizzle} swizzle has {line} elements along m/n, but the instruction reads "
            f"{reading.rows}: right only in a tile of {line} or more",
        )
    last = int(reading.addresses.max()) + max(1, reading.element.bits // 8) - 1
    if last >= WINDOW_BYTES:
        yield Suspicion(
            "beyond-window",
            f"it reads up to {last:#x}, but descriptor addresses end at {WINDOW_BYTES:#x} (2^18)",
        )
    elif last >= SHARED_END:
        yield Suspicion(
            "beyond-shared-memory",
            f"it reads up to {last:#x}, but the shared memory of a CTA ends at {SHARED_END:#x}: 227 KB "
            "after 1 KB that the system reserves",
        )
