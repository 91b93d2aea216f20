"""What is suspicious about a descriptor: each suspicion has a name, for programs, and a sentence."""

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

#: Where a block's shared memory ends, after the 1 KB that the system has in front of it.
SHARED_END = MAX_BYTES + 1024


_LINE = 1 << PHASE_BIT


@dataclass(frozen=True)
class Suspicion(Answer):
    """Something that is wrong, or right in rare cases only.

    Attributes:
        name: which suspicion it is.
        text: it in words, with the values.
    """

    name: str
    text: str


def without_reserved(bits: int, arch: Arch = Arch.SM_90) -> Descriptor:
    """The descriptor, with bits that mean nothing taken as 0, and a missing version as there."""
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


def of_bits(bits: int, tile: int | None = None, arch: Arch = Arch.SM_90) -> Iterator[Suspicion]:
    """What the fields alone tell.

    Args:
        bits: the 64 bits.
        tile: the address at which the tile begins of which the descriptor's start is a part, if it is
            known.
        arch: whose descriptor it is.
    """
    encoding, reserved = arch.descriptor, bits & arch.descriptor.reserved()
    version = field_of(bits, VERSION)
    versioned = VERSION in encoding.fixed
    if not versioned and version == 1:
        reserved &= ~mask_of(VERSION)
        yield Suspicion(
            "tcgen05-version",
            "bits 46-48 are 1, the version of tcgen05's descriptors; wgmma has none there: "
            "--arch sm_100 reads it as one of tcgen05",
        )
    elif versioned and version != 1:
        hint = "" if version else ": --arch sm_90 reads it as one of wgmma"
        yield Suspicion(
            "version",
            f"bits 46-48 are {version}, but tcgen05's descriptors have their version there, 1{hint}",
        )
    if reserved:
        yield Suspicion(
            "reserved-bits",
            f"the bits {reserved:#018x} belong to no field of a {encoding.reader} descriptor and must "
            "be 0",
        )
    mode = field_of(bits, encoding.mode)
    if mode not in encoding.modes.values():
        known = ", ".join(f"{field} ({swizzle})" for swizzle, field in encoding.modes.items())
        yield Suspicion(
            "swizzle-mode",
            f"the swizzling mode is {mode}, which means nothing and is taken for none here; there are "
            f"{known}",
        )
    descriptor, written = without_reserved(bits, arch), field_of(bits, BASE_OFFSET)
    if versioned and field_of(bits, LBO_MODE):
        yield from _of_absolute(descriptor, written, arch)
    if getattr(descriptor, "absolute", False):
        return
    if descriptor.swizzle is not Swizzle.NONE:
        yield from _of_base_offset(descriptor, tile)
    elif written:
        yield Suspicion(
            "base-offset-without-swizzle",
            f"the base offset is {written}, but without swizzle it must be 0",
        )


def _of_absolute(d: Descriptor, written: int, arch: Arch) -> Iterator[Suspicion]:
    """Whether the LBO can be an address (PTX ISA 9.7.16.3.1.2.1); `written` is the base offset."""
    if not arch.has_absolute_lbo:
        yield Suspicion(
            "absolute-arch",
            f"bit 52 makes LBO an address, which only sm_103 has; it must be 0 on {arch}",
        )
    elif d.swizzle is not Swizzle.B128:
        yield Suspicion(
            "absolute-swizzle",
            f"LBO is an address (bit 52), which goes with swizzle 128B, with atoms of 16 bytes, not "
            f"{d.swizzle}; it is taken for a distance here",
        )
    else:
        if written:
            yield Suspicion(
                "absolute-base-offset",
                f"LBO is an address (bit 52) and the base offset {written}, but then it must be 0",
            )
        pattern = d.swizzle.pattern_bytes
        if d.start % pattern >= d.swizzle.width:
            yield Suspicion(
                "absolute-start",
                f"LBO is an address (bit 52), and the start {d.start:#x} lies {d.start % pattern} bytes "
                f"into the {pattern} of a {d.swizzle} pattern: not in its first line, as without base "
                "offset it must",
            )
        if d.lbo % pattern:
            yield Suspicion(
                "absolute-lbo",
                f"LBO is the address {d.lbo:#x}, no multiple of {pattern}: the rest of each row is "
                "looked for where no tile begins",
            )


def _of_base_offset(d: Descriptor, tile: int | None) -> Iterator[Suspicion]:
    """Whether the base offset is that of the swizzle pattern in which the start lies."""
    pattern = d.swizzle.pattern_bytes
    begin = d.start if tile is None else tile
    within, line = begin % pattern, begin // _LINE * _LINE
    # An operand may start anywhere along the first line of its tile: so do the steps along K.
    along_line = d.swizzle.width if tile is None else 1
    right = base_offset(line, d.swizzle) if begin - line < along_line else None
    found = d.base_offset % (pattern // _LINE)
    needs = (
        f"needs base offset {right}"
        if right is not None
        else f"cannot be swizzled so: a pattern begins at a multiple of {_LINE}"
    )
    if tile is None and within >= d.swizzle.width and not found:
        yield Suspicion(
            "start-off-pattern",
            f"the start {d.start:#x} lies {within} bytes into the {pattern} of a {d.swizzle} pattern, "
            f"and the base offset is 0: right for a part of a tile that is aligned to {pattern}, but a "
            f"tile that begins here {needs}",
        )
    elif found != right:
        where = f"a tile that begins at {line:#x}" if tile is None else f"the tile at {tile:#x}"
        yield Suspicion("base-offset", f"the base offset is {d.base_offset}, but {where} {needs}")


def of_reading(reading: Reading) -> Iterator[Suspicion]:
    """What the operand that an instruction would read tells."""
    d = reading.descriptor
    if not reading.legal:
        yield _illegal(reading)
        return
    form, steps, atom = reading.form, reading.steps, d.swizzle.atom_bytes
    assert form is not None
    if "LBO" not in form.text and d.lbo not in (0, UNIT_BYTES) and not reading.absolute:
        yield Suspicion(
            "lbo-ignored",
            f"LBO is {d.lbo} bytes, but has no effect on a {reading.major} operand with swizzle "
            f"{d.swizzle}; 0 and 1 (16 bytes) are usual there",
        )
    # Four lines of the mode with units of 32 bytes, though it is aligned to eight.
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
                f"{name} is {step} bytes, no multiple of the {repeats} after which "
                f"the swizzle {d.swizzle} repeats: one atom is swizzled otherwise than the next",
            )
    if reading.collides and not reading.exchanged.collides:
        yield Suspicion(
            "exchanged",
            f"LBO {d.lbo} and SBO {d.sbo} look exchanged: with LBO {d.sbo} and SBO {d.lbo} each "
            "element has a place of its own",
        )
    if reading.twins is not None:
        (r, k), (r2, k2) = reading.twins
        yield Suspicion(
            "overlap",
            f"elements ({r},{k}) and ({r2},{k2}) of (m/n, k) are both read at "
            f"{reading.addresses[r, k]:#x}",
        )
    yield from _of_extent(reading)


def _illegal(reading: Reading) -> Suspicion:
    """Why the instructions do not read the type so."""
    kind, arch, d = reading.element, reading.arch, reading.descriptor
    modes = arch.swizzles_of(kind, reading.major)
    if not arch.multiplies(kind):
        return Suspicion("type", f"{kind} is not an A or B element type of {arch.instructions}")
    reader = arch.descriptor.reader
    if not modes:
        others = "" if arch.kinds else "; MN-major is for 16-bit types"
        return Suspicion("type", f"{reader} reads {kind} K-major only{others}")
    if d.swizzle not in modes:
        return Suspicion(
            "swizzle",
            f"{reader} reads {kind} {reading.major} with swizzle {' or '.join(map(str, modes))}, not "
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
            "LBO is an address (bit 52), which goes with K-major operands, but this one is MN-major",
        )
    long = reading.k_bytes == LONG_K_BYTES
    if long and not (kind.bits == 4 and d.swizzle is Swizzle.B128):
        return Suspicion(
            "k-bytes",
            f"K is {LONG_K_BYTES} bytes, which is for e2m1 with swizzle 128B, not {kind} with "
            f"{d.swizzle}",
        )
    assert reading.row_problem is not None
    absolute = "absolute-chunk" if long else "absolute-k"
    return Suspicion(absolute if reading.absolute else "row-end", reading.row_problem)


def _of_extent(reading: Reading) -> Iterator[Suspicion]:
    d = reading.descriptor
    line = d.swizzle.atom_elements(reading.element)
    if reading.major is Major.MN and d.swizzle is not Swizzle.NONE and reading.rows < line:
        yield Suspicion(
            "swizzle-wide",
            f"a line of the {d.swizzle} swizzle has {line} elements along m/n, of which the "
            f"instruction reads {reading.rows}: right only in a tile of {line} or more",
        )
    last = int(reading.addresses.max()) + max(1, reading.element.bits // 8) - 1
    if last >= WINDOW_BYTES:
        yield Suspicion(
            "beyond-window",
            f"it reads up to {last:#x}, but a descriptor's addresses end at {WINDOW_BYTES:#x} (2^18)",
        )
    elif last >= SHARED_END:
        yield Suspicion(
            "beyond-shared-memory",
            f"it reads up to {last:#x}, but the shared memory of a block ends at {SHARED_END:#x}: "
            "227 KB, after 1 KB of the system's",
        )
