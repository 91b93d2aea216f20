"""A decoded descriptor of an operand, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

from ...layout import Descriptor, Major
from ...layout.descriptor import BASE_OFFSET, field_of
from ...layout.tcgen05 import LBO_MODE, Tcgen05Descriptor
from ..answer import data, html, text
from ..decoded import Decoded
from .formats import bit_range, descriptor_hex, offset_meaning, suspicion_items, suspicion_lines
from .tables import html_list, html_table, text_table

#: The columns of a table of fields.
HEADS = ("field", "bits", "encoded", "bytes", "meaning")

#: Number of byte ranges that are printed; the rest is counted.
_SHOWN = 8


@text.register
def _(decoded: Decoded) -> str:
    head = f"{descriptor_hex(decoded.bits)}, {_operand_text(decoded)}"
    lines = [head, "", text_table(HEADS, field_rows(decoded)), ""]
    lines += [f"layout  {form}" for form in forms(decoded)]
    if decoded.ranges:
        lines.append(f"reads   {_reads(decoded)}")
    return "\n".join([*lines, *(suspicion_lines(decoded.suspicions) or ["nothing is suspicious"])])


def field_rows(decoded: Decoded) -> list[tuple[str, ...]]:
    """Return the fields; the columns are `HEADS`."""
    d = decoded.descriptor
    values = {
        "start address": (f"{d.start} ({d.start:#x})", "address of the first element"),
        "LBO": (str(d.lbo), _stride_meaning(decoded, "LBO")),
        "SBO": (str(d.sbo), _stride_meaning(decoded, "SBO")),
        "version": ("", "1, constant of tcgen05"),
        "base offset": ("", "128-byte lines into the swizzle pattern"),
        "LBO mode": ("", _mode_meaning(decoded)),
        "swizzle": (str(d.swizzle.width), _swizzle_meaning(d)),
    }
    return [
        (field.name, bit_range(field), str(field.encoded), *values[field.name])
        for field in decoded.fields
    ]


def forms(decoded: Decoded) -> tuple[str, ...]:
    """Return the operand's layout; without an element type, the canonical layout for each major-ness."""
    d, reading = decoded.descriptor, decoded.reading
    if reading is None:
        swizzle = d.swizzle
        return tuple(
            f"{major}: {swizzle.cute} o {form.text}"
            for major in Major
            if (form := decoded.arch.forms.get((major, swizzle))) is not None
        )
    if reading.is_legal and len(reading.chunks) > 1:
        first, second = reading.chunks
        return (
            f"{reading.major}, in two chunks: {first} bytes of each row from {d.start:#x} and "
            f"{second} from {d.lbo:#x}; {d.swizzle.cute}, the next 8 rows after {d.sbo} bytes",
        )
    return (f"{reading.major}: {decoded.layout}",) if decoded.layout is not None else ()


def _stride_meaning(decoded: Decoded, name: str) -> str:
    d, known_forms = decoded.descriptor, decoded.arch.forms
    if name == "LBO" and isinstance(d, Tcgen05Descriptor) and d.absolute:
        return f"address {d.lbo:#x} of the second chunk of the rows"
    if decoded.reading is not None:
        form = decoded.reading.form
        return offset_meaning(form, name) if form is not None else "no canonical layout"
    return "; ".join(
        f"{major}: {offset_meaning(known_forms[major, d.swizzle], name)}"
        for major in Major
        if (major, d.swizzle) in known_forms
    )


def _mode_meaning(decoded: Decoded) -> str:
    absolute = field_of(decoded.bits, LBO_MODE)
    return "LBO is an absolute address" if absolute else "LBO is a relative byte offset"


def _swizzle_meaning(d: Descriptor) -> str:
    if not d.swizzle.value:
        return "none: core matrices of 8 rows of 16 bytes"
    unit, width = d.swizzle.unit_bytes, d.swizzle.width
    return f"{d.swizzle}: {unit}-byte units permuted within {width} bytes"


def _operand_text(decoded: Decoded) -> str:
    """Return the operand that the instruction reads, and whether its major-ness is assumed."""
    if decoded.reading is None:
        return "without an element type (--element)"
    r = decoded.reading
    assumed = " (assumed: fewer suspicions; --major sets it)" if decoded.assumed else ""
    return f"{r.rows} x {r.k} {r.element} of (m/n, k), {r.major}{assumed}"


def _reads(decoded: Decoded) -> str:
    ranges = decoded.ranges
    shown = ", ".join(f"{first:#x}-{last:#x}" for first, last in ranges[:_SHOWN])
    remaining = len(ranges) - _SHOWN
    total = sum(last - first + 1 for first, last in ranges)
    return f"{total} bytes: {shown}" + (f", and {remaining} more ranges" if remaining > 0 else "")


@data.register
def _(decoded: Decoded) -> dict[str, Any]:
    """Quantities are in bytes; `reads` is indexed [m/n][k]."""
    d, reading = decoded.descriptor, decoded.reading
    legal = reading is not None and reading.is_legal
    return {
        "arch": str(decoded.arch),
        "descriptor": descriptor_hex(decoded.bits),
        "start": d.start,
        "lbo": d.lbo,
        "sbo": d.sbo,
        "base_offset": field_of(decoded.bits, BASE_OFFSET),
        "swizzle": str(d.swizzle),
        "absolute": isinstance(d, Tcgen05Descriptor) and d.absolute,
        "element": reading and str(reading.element),
        "major": reading and reading.major.value,
        "rows": reading and reading.rows,
        "chunks": list(reading.chunks) if reading is not None and legal else None,
        "layout": decoded.layout and str(decoded.layout),
        "forms": list(forms(decoded)),
        "reads": reading.addresses.tolist() if reading is not None and legal else None,
        "ranges": [list(pair) for pair in decoded.ranges] if legal else None,
        "suspicions": [data(suspicion) for suspicion in decoded.suspicions],
    }


@html.register
def _(decoded: Decoded) -> str:
    sentences = [*forms(decoded), *suspicion_items(decoded.suspicions)]
    return html_table(HEADS, field_rows(decoded)) + html_list(sentences)
