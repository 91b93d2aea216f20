"""A descriptor read back: its fields in words, what one instruction reads, what is suspicious."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..layout import FORMS, Descriptor, Element, LayoutError, Major, TileLayout
from ..layout.descriptor import BASE_OFFSET, LBO, SBO, START, field_of
from ..layout.instruction import INSTRUCTION_M, MAX_N
from .columns import columns, html_table
from .sentences import html_list
from .suspicions import Reading, Suspicion, of_bits, of_reading, without_reserved
from .table import meaning

#: Ranges of bytes that are written out; the rest is counted.
_SHOWN = 8

#: The columns of a table of fields.
HEADS = ("field", "bits", "encoded", "bytes", "meaning")


@dataclass(frozen=True)
class Decoded:
    """What a matrix descriptor of wgmma says.

    Attributes:
        bits: the 64 bits.
        reading: what an instruction takes it for; None where the element type is not known.
        suspicions: what is wrong, or right in rare cases only.
        assumed: whether the major was not given, and another one could be meant.
    """

    bits: int
    reading: Reading | None
    suspicions: tuple[Suspicion, ...]
    assumed: bool = False

    @property
    def descriptor(self) -> Descriptor:
        """The descriptor, with bits that mean nothing taken as 0."""
        return without_reserved(self.bits)

    @property
    def layout(self) -> TileLayout | None:
        """The canonical layout of the operand (m/n, k), LBO and SBO filled in."""
        reading = self.reading
        if reading is None or not reading.legal:
            return None
        d, kind, extents = self.descriptor, reading.element, (reading.rows, self._k)
        pattern = reading.form.layout(kind, 1, 1, 0, 0).shape
        m, k = (-(-extent // of) for extent, of in zip(extents, pattern, strict=True))
        whole = reading.form.layout(kind, m, k, d.lbo, d.sbo)
        return whole if whole.shape == extents else whole.slice((0, 0), extents).layout

    @property
    def _k(self) -> int:
        assert self.reading is not None
        return self.reading.element.instruction_k

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
        d = self.descriptor
        rows = (
            ("start address", START, f"{d.start} ({d.start:#x})", "where the first element lies"),
            ("LBO", LBO, str(d.lbo), self._meaning("LBO")),
            ("SBO", SBO, str(d.sbo), self._meaning("SBO")),
            ("base offset", BASE_OFFSET, "", "lines of 128 bytes into the swizzle pattern"),
            ("swizzle", Descriptor.mode, str(d.swizzle.width), _swizzle_meaning(d)),
        )
        return tuple(
            (name, f"{at[0]}-{at[0] + at[1] - 1}", str(field_of(self.bits, at)), size, meaning)
            for name, at, size, meaning in rows
        )

    def _meaning(self, name: str) -> str:
        if self.reading is not None:
            return meaning(self.reading.form, name)
        return "; ".join(
            f"{major}: {meaning(FORMS[major, self.descriptor.swizzle], name)}" for major in Major
        )

    @property
    def forms(self) -> tuple[str, ...]:
        """The operand's layout; without an element type, the form for each major."""
        if self.reading is None:
            swizzle = self.descriptor.swizzle
            return tuple(f"{m}: {swizzle.cute} o {FORMS[m, swizzle].text}" for m in Major)
        return (f"{self.reading.major}: {self.layout}",) if self.layout is not None else ()

    @property
    def _taken_for(self) -> str:
        """What is assumed of the instruction, in words."""
        if self.reading is None:
            return "element type not given: --element says which"
        r = self.reading
        assumed = " (assumed: fewer suspicions; --major says which)" if self.assumed else ""
        return f"{r.rows} x {self._k} {r.element} of (m/n, k), {r.major}{assumed}"

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
            "descriptor": f"{self.bits:#018x}",
            "start": d.start,
            "lbo": d.lbo,
            "sbo": d.sbo,
            "base_offset": field_of(self.bits, BASE_OFFSET),
            "swizzle": str(d.swizzle),
            "element": reading and str(reading.element),
            "major": reading and reading.major.value,
            "rows": reading and reading.rows,
            "layout": self.layout and str(self.layout),
            "forms": list(self.forms),
            "reads": reading.addresses.tolist() if reading is not None and told else None,
            "ranges": [list(pair) for pair in self.ranges] if told else None,
            "suspicions": [{"name": s.name, "text": s.text} for s in self.suspicions],
        }

    def _repr_html_(self) -> str:
        notes = [*self.forms, *(f"{s.name}: {s.text}" for s in self.suspicions)]
        return html_table(HEADS, self.fields) + html_list(notes)


def _swizzle_meaning(d: Descriptor) -> str:
    if not d.swizzle.value:
        return "none: core matrices of 8 rows of 16 bytes"
    return f"{d.swizzle}: 16-byte units exchanged within {d.swizzle.width} bytes"


def decode(
    bits: int,
    element: Element | None = None,
    major: Major | None = None,
    rows: int = INSTRUCTION_M,
    tile: int | None = None,
) -> Decoded:
    """What a matrix descriptor of wgmma says, and what is suspicious about it.

    Args:
        bits: the descriptor.
        element: the element type; without it, only the fields are judged.
        major: the contiguous dimension; if it is not given, the one that leaves fewer suspicions.
        rows: the operand's extent along m or n: 64 for A, N for B.
        tile: the address at which the tile begins of which the operand is a part; if it is not given,
            the start may be anywhere in one.

    Raises:
        LayoutError: if the descriptor has more than 64 bits, or no operand has so many rows.
    """
    if not 0 <= bits < 1 << 64:
        raise LayoutError(f"{bits:#x} is not a 64-bit value")
    if not 0 < rows <= MAX_N or rows % 8:
        raise LayoutError(
            f"an operand of {rows} rows; expected 64 for A, and a multiple of 8 up to {MAX_N} for B"
        )
    general = tuple(of_bits(bits, tile))
    if element is None:
        return Decoded(bits, None, general)
    majors = (major,) if major else tuple(Major) if element.mn_major else (Major.K,)
    found: list[Decoded] = []
    for each in majors:
        reading = Reading(without_reserved(bits), element, each, rows)
        suspicions = (*general, *of_reading(reading))
        found.append(Decoded(bits, reading, suspicions, assumed=len(majors) > 1))
    return min(found, key=lambda answer: len(answer.suspicions))
