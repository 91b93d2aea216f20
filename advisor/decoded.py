"""A descriptor read back: its fields in words, what one instruction reads, what is suspicious."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..layout import Arch, Descriptor, Element, LayoutError, Major, TileLayout
from ..layout.descriptor import BASE_OFFSET, LBO, SBO, START, field_of
from ..layout.elements import INSTRUCTION_K_BYTES
from ..layout.instruction import MAX_N
from ..layout.tcgen05 import LBO_MODE, LONG_K_BYTES, VERSION, Tcgen05Descriptor
from .columns import columns, html_table
from .reading import Reading
from .sentences import html_list
from .suspicions import Suspicion, of_bits, of_reading, without_reserved
from .table import meaning

#: Ranges of bytes that are written out; the rest is counted.
_SHOWN = 8

#: The columns of a table of fields.
HEADS = ("field", "bits", "encoded", "bytes", "meaning")


@dataclass(frozen=True)
class Decoded:
    """What a descriptor of an operand in shared memory says.

    Attributes:
        bits: the 64 bits.
        reading: what an instruction takes it for; None where the element type is not known.
        suspicions: what is wrong, or right in rare cases only.
        assumed: whether the major was not given, and another one could be meant.
        arch: whose descriptor it is.
    """

    bits: int
    reading: Reading | None
    suspicions: tuple[Suspicion, ...]
    assumed: bool = False
    arch: Arch = Arch.SM_90

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor, with bits that mean nothing taken as 0."""
        return without_reserved(self.bits, self.arch)

    @property
    def layout(self) -> TileLayout | None:
        """The canonical layout of the operand (m/n, k), LBO and SBO filled in; None if it is read in two
        chunks, or not at all."""
        reading = self.reading
        if reading is None or not reading.legal or len(reading.chunks) > 1:
            return None
        form = reading.form
        assert form is not None
        d, kind, extents = self.descriptor, reading.element, (reading.rows, reading.k)
        pattern = form.layout(kind, 1, 1, 0, 0).shape
        m, k = (-(-extent // of) for extent, of in zip(extents, pattern, strict=True))
        whole = form.layout(kind, m, k, d.lbo, d.sbo)
        return whole if whole.shape == extents else whole.slice((0, 0), extents).layout

    @cached_property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The bytes that one instruction reads: (first, last) of each run of them, ascending."""
        if self.reading is None or not self.reading.legal:
            return ()
        size = max(1, self.reading.element.bits // 8)
        starts = np.unique(self.reading.addresses)
        breaks = np.flatnonzero(np.diff(starts) > size)
        firsts = starts[np.concatenate(([0], breaks + 1))]
        lasts = starts[np.concatenate((breaks, [len(starts) - 1]))] + size - 1
        return tuple((int(a), int(b)) for a, b in zip(firsts, lasts, strict=True))

    @property
    def fields(self) -> tuple[tuple[str, ...], ...]:
        """Each field: its name, bits, encoded value, value in bytes, and meaning."""
        d, mode = self.descriptor, self.arch.descriptor.mode
        rows = [
            ("start address", START, f"{d.start} ({d.start:#x})", "where the first element lies"),
            ("LBO", LBO, str(d.lbo), self._meaning("LBO")),
            ("SBO", SBO, str(d.sbo), self._meaning("SBO")),
            ("base offset", BASE_OFFSET, "", "lines of 128 bytes into the swizzle pattern"),
            ("swizzle", mode, str(d.swizzle.width), _swizzle_meaning(d)),
        ]
        if self.arch.is_tcgen05:
            absolute = "LBO is an address" if field_of(self.bits, LBO_MODE) else "LBO is a distance"
            rows.insert(4, ("LBO mode", LBO_MODE, "", absolute))
            rows.insert(3, ("version", VERSION, "", "of tcgen05's descriptors: 1"))
        return tuple(
            (name, _range(at), str(field_of(self.bits, at)), size, meaning)
            for name, at, size, meaning in rows
        )

    def _meaning(self, name: str) -> str:
        d, forms = self.descriptor, self.arch.forms
        if name == "LBO" and isinstance(d, Tcgen05Descriptor) and d.absolute:
            return f"address {d.lbo:#x}, at which the rest of the rows begins"
        if self.reading is not None:
            form = self.reading.form
            return meaning(form, name) if form is not None else "means nothing here"
        return "; ".join(
            f"{major}: {meaning(forms[major, d.swizzle], name)}"
            for major in Major
            if (major, d.swizzle) in forms
        )

    @property
    def forms(self) -> tuple[str, ...]:
        """The operand's layout; without an element type, the form for each major."""
        if self.reading is None:
            swizzle = self.descriptor.swizzle
            return tuple(
                f"{major}: {swizzle.cute} o {form.text}"
                for major in Major
                if (form := self.arch.forms.get((major, swizzle))) is not None
            )
        if self.reading.legal and len(self.reading.chunks) > 1:
            first, second = self.reading.chunks
            d = self.descriptor
            return (
                f"{self.reading.major}, in two chunks: of each row {first} bytes from {d.start:#x}, then "
                f"{second} from {d.lbo:#x}; {d.swizzle.cute}, the next 8 rows {d.sbo} bytes further",
            )
        return (f"{self.reading.major}: {self.layout}",) if self.layout is not None else ()

    @property
    def _taken_for(self) -> str:
        """What is assumed of the instruction, in words."""
        if self.reading is None:
            return "element type not given: --element says which"
        r = self.reading
        assumed = " (assumed: fewer suspicions; --major says which)" if self.assumed else ""
        return f"{r.rows} x {r.k} {r.element} of (m/n, k), {r.major}{assumed}"

    def _reads(self) -> str:
        shown = ", ".join(f"{first:#x}-{last:#x}" for first, last in self.ranges[:_SHOWN])
        more = len(self.ranges) - _SHOWN
        total = sum(last - first + 1 for first, last in self.ranges)
        return f"{total} bytes: {shown}" + (f", and {more} more ranges" if more > 0 else "")

    def __str__(self) -> str:
        lines = [f"{self.bits:#018x}, {self._taken_for}", "", columns(HEADS, self.fields), ""]
        lines += [f"layout  {form}" for form in self.forms]
        if self.ranges:
            lines.append(f"reads   {self._reads()}")
        lines += [f"suspicious ({each.name}): {each.text}" for each in self.suspicions]
        return "\n".join(lines if self.suspicions else [*lines, "nothing is suspicious"])

    def data(self) -> dict[str, Any]:
        """The answer for JSON; all quantities in bytes, `reads` indexed [m/n][k]."""
        d, reading = self.descriptor, self.reading
        told = reading is not None and reading.legal
        return {
            "arch": str(self.arch),
            "descriptor": f"{self.bits:#018x}",
            "start": d.start,
            "lbo": d.lbo,
            "sbo": d.sbo,
            "base_offset": field_of(self.bits, BASE_OFFSET),
            "swizzle": str(d.swizzle),
            "absolute": isinstance(d, Tcgen05Descriptor) and d.absolute,
            "element": reading and str(reading.element),
            "major": reading and reading.major.value,
            "rows": reading and reading.rows,
            "chunks": list(reading.chunks) if reading is not None and told else None,
            "layout": self.layout and str(self.layout),
            "forms": list(self.forms),
            "reads": reading.addresses.tolist() if reading is not None and told else None,
            "ranges": [list(pair) for pair in self.ranges] if told else None,
            "suspicions": [asdict(s) for s in self.suspicions],
        }

    def _repr_html_(self) -> str:
        notes = [*self.forms, *(f"{s.name}: {s.text}" for s in self.suspicions)]
        return html_table(HEADS, self.fields) + html_list(notes)


def _range(field: tuple[int, int]) -> str:
    """The bits of a field, for example `0-13`."""
    first, width = field
    return f"{first}-{first + width - 1}" if width > 1 else str(first)


def _swizzle_meaning(d: Descriptor) -> str:
    if not d.swizzle.value:
        return "none: core matrices of 8 rows of 16 bytes"
    unit, width = d.swizzle.unit_bytes, d.swizzle.width
    return f"{d.swizzle}: {unit}-byte units exchanged within {width} bytes"


def decode(
    bits: int,
    element: Element | None = None,
    major: Major | None = None,
    rows: int | None = None,
    tile: int | None = None,
    arch: Arch = Arch.SM_90,
    k_bytes: int | None = None,
) -> Decoded:
    """What a descriptor of an operand in shared memory says, and what is suspicious about it.

    Args:
        bits: the descriptor.
        element: the element type; without it, only the fields are judged.
        major: the contiguous dimension; if it is not given, the one that leaves fewer suspicions.
        rows: the operand's extent along m or n: of A as many as the instruction has, which is what None
            stands for; N for B.
        tile: the address at which the tile begins of which the operand is a part; if it is not given,
            the start may be anywhere in one.
        arch: whose instruction reads it.
        k_bytes: bytes along K that the instruction reads; None for 32, or for 48 of 4-bit types where
            LBO is an address.

    Raises:
        LayoutError: if the descriptor has more than 64 bits, or no operand has so many rows.
    """
    if not 0 <= bits < 1 << 64:
        raise LayoutError(f"{bits:#x} is not a 64-bit value")
    legal = arch.instruction_m
    extent = legal[0] if rows is None else rows
    if not 0 < extent <= MAX_N or extent % 8:
        ms = " or ".join(map(str, sorted(legal)))
        raise LayoutError(
            f"an operand of {extent} rows; expected {ms} for A, and a multiple of 8 up to {MAX_N} for B"
        )
    general = tuple(of_bits(bits, tile, arch))
    if element is None:
        return Decoded(bits, None, general, arch=arch)
    descriptor = without_reserved(bits, arch)
    if k_bytes is None:
        absolute = isinstance(descriptor, Tcgen05Descriptor) and descriptor.absolute
        k_bytes = LONG_K_BYTES if absolute and element.bits == 4 else INSTRUCTION_K_BYTES
    majors = (major,) if major else arch.majors_of(element) or (Major.K,)
    found: list[Decoded] = []
    for each in majors:
        reading = Reading(descriptor, element, each, extent, arch, k_bytes)
        suspicions = (*general, *of_reading(reading))
        found.append(Decoded(bits, reading, suspicions, len(majors) > 1, arch))
    return min(found, key=lambda answer: len(answer.suspicions))
