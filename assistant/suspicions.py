"""What is suspicious about a descriptor: each suspicion has a name, for programs, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from ..layout import (
    FORMS,
    Descriptor,
    Element,
    Form,
    Major,
    Swizzle,
    base_offset,
    operand_addresses,
)
from ..layout.banks import MAX_BYTES
from ..layout.descriptor import BASE_OFFSET, field_of, mask_of
from ..layout.elements import UNIT_BYTES
from ..layout.swizzle import PHASE_BIT

#: Bits 46 and 47 of a tcgen05 descriptor: its version, 1 on sm_100 (PTX ISA 9.7.16.4.1).
TCGEN05_VERSION = (46, 2)

#: Where a block's shared memory ends, after the 1 KB that the system has in front of it.
SHARED_END = MAX_BYTES + 1024

#: Where the addresses of a descriptor end.
WINDOW_END = 1 << 18

_LINE = 1 << PHASE_BIT


@dataclass(frozen=True)
class Suspicion:
    """Something that is wrong, or right in rare cases only.

    Attributes:
        name: which suspicion it is.
        text: it in words, with the values.
    """

    name: str
    text: str


def without_reserved(bits: int) -> Descriptor:
    """The descriptor, with bits that mean nothing taken as 0."""
    clean = bits & ~Descriptor.reserved()
    if Descriptor.decode(clean & ~mask_of(BASE_OFFSET)).swizzle is Swizzle.NONE:
        clean &= ~mask_of(BASE_OFFSET)
    return Descriptor.decode(clean)


def of_bits(bits: int, tile: int | None = None) -> Iterator[Suspicion]:
    """What the fields alone tell.

    Args:
        bits: the 64 bits.
        tile: the address at which the tile begins of which the descriptor's start is a part, if it is
            known.
    """
    reserved = bits & Descriptor.reserved()
    if field_of(bits, TCGEN05_VERSION) == 1:
        reserved &= ~mask_of(TCGEN05_VERSION)
        yield Suspicion(
            "tcgen05-version",
            "bits 46-47 are 1, the version of tcgen05's descriptors; wgmma has none there: "
            "--arch sm_100a reads it as one of tcgen05",
        )
    if reserved:
        yield Suspicion(
            "reserved-bits",
            f"the bits {reserved:#018x} belong to no field of a wgmma descriptor and must be 0",
        )
    descriptor, written = without_reserved(bits), field_of(bits, BASE_OFFSET)
    if descriptor.swizzle is not Swizzle.NONE:
        yield from _of_base_offset(descriptor, tile)
    elif written:
        yield Suspicion(
            "base-offset-without-swizzle",
            f"the base offset is {written}, but without swizzle it must be 0",
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


@dataclass(frozen=True)
class Reading:
    """A descriptor together with what an instruction takes it for.

    Attributes:
        descriptor: the descriptor.
        element: the element type.
        major: the contiguous dimension, which the instruction's modifiers say.
        rows: the operand's extent along m or n.
    """

    descriptor: Descriptor
    element: Element
    major: Major
    rows: int

    @property
    def form(self) -> Form:
        """The canonical layout that it stands for."""
        return FORMS[self.major, self.descriptor.swizzle]

    @property
    def legal(self) -> bool:
        """Whether wgmma reads the element type so."""
        return self.element.multiplied and (self.major is Major.K or self.element.mn_major)

    @cached_property
    def addresses(self) -> np.ndarray:
        """int64[rows, k]: the byte address of each element that one instruction reads."""
        name, bits = self.element.name, self.descriptor.encode()
        return operand_addresses(bits, name, self.major.value, self.rows)

    @property
    def steps(self) -> dict[str, int]:
        """The offsets that the instruction steps by, in bytes: those of LBO and SBO that matter."""
        found: dict[str, int] = {}
        atom = self.form.layout(self.element, 1, 1, 0, 0)
        extents = (self.rows, self.element.instruction_k)
        for modes, strides, extent in zip(atom.modes, self.form.strides, extents, strict=True):
            name = strides[-1]
            if name in ("LBO", "SBO") and extent > prod(mode.extent for mode in modes[:-1]):
                found[name] = getattr(self.descriptor, name.lower())
        return found

    @cached_property
    def twins(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Two elements (row, k) that are read from the same place."""
        bits = self.element.bits
        places = self.addresses * 8 + np.arange(self.addresses.shape[1]) * bits % 8
        flat = places.ravel()
        order = np.argsort(flat, kind="stable")
        same = np.flatnonzero(flat[order][1:] == flat[order][:-1])
        if not same.size:
            return None
        # The first element that lies where one before it does.
        second = int(order[same + 1].min())
        first = int(np.flatnonzero(flat == flat[second])[0])
        k = self.addresses.shape[1]
        return divmod(first, k), divmod(second, k)

    @property
    def exchanged(self) -> Reading:
        """The same with LBO and SBO exchanged."""
        d = self.descriptor
        return replace(self, descriptor=replace(d, lbo=d.sbo, sbo=d.lbo))

    @property
    def collides(self) -> bool:
        """Whether atoms lie on each other, or elements do."""
        atom = self.descriptor.swizzle.atom_bytes
        return any(step < atom for step in self.steps.values()) or self.twins is not None


def of_reading(reading: Reading) -> Iterator[Suspicion]:
    """What the operand that an instruction would read tells."""
    d, kind = reading.descriptor, reading.element
    if not reading.legal:
        yield Suspicion(
            "type",
            f"wgmma reads {kind} K-major only; MN-major is for 16-bit types"
            if kind.multiplied
            else f"{kind} is no multiplicand of wgmma",
        )
        return
    steps, atom = reading.steps, d.swizzle.atom_bytes
    if "LBO" not in reading.form.text and d.lbo not in (0, UNIT_BYTES):
        yield Suspicion(
            "lbo-ignored",
            f"LBO is {d.lbo} bytes, but has no effect on a {reading.major} operand with swizzle "
            f"{d.swizzle}; 0 and 1 (16 bytes) are usual there",
        )
    for name, step in steps.items():
        if step < atom:
            yield Suspicion(
                f"{name.lower()}-small",
                f"{name} is {step} bytes, less than the {atom} of the 8 lines of "
                f"{d.swizzle.width} bytes that it steps over",
            )
        elif step % d.swizzle.pattern_bytes:
            yield Suspicion(
                f"{name.lower()}-off-pattern",
                f"{name} is {step} bytes, no multiple of the {d.swizzle.pattern_bytes} after which "
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
    if last >= WINDOW_END:
        yield Suspicion(
            "beyond-window",
            f"it reads up to {last:#x}, but a descriptor's addresses end at {WINDOW_END:#x} (2^18)",
        )
    elif last >= SHARED_END:
        yield Suspicion(
            "beyond-shared-memory",
            f"it reads up to {last:#x}, but the shared memory of a block ends at {SHARED_END:#x}: "
            "227 KB, after 1 KB of the system's",
        )
