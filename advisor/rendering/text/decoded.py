"""A descriptor of an operand read back, as people read it."""

from __future__ import annotations

from ....layout import Descriptor, Major
from ....layout.descriptor import field_of
from ....layout.tcgen05 import LBO_MODE, Tcgen05Descriptor
from ...answer import text
from ...decoded import Decoded
from ..formats import bit_range, descriptor_hex, warnings
from ..tables import columns
from .offsets import meaning

#: The columns of a table of fields.
HEADS = ("field", "bits", "encoded", "bytes", "meaning")

#: Ranges of bytes that are written out; the rest is counted.
_SHOWN = 8


@text.register
def _(decoded: Decoded) -> str:
    head = f"{descriptor_hex(decoded.bits)}, {_taken_for(decoded)}"
    lines = [head, "", columns(HEADS, field_rows(decoded)), ""]
    lines += [f"layout  {form}" for form in forms(decoded)]
    if decoded.ranges:
        lines.append(f"reads   {_reads(decoded)}")
    return "\n".join([*lines, *(warnings(decoded.suspicions) or ["nothing is suspicious"])])


def field_rows(decoded: Decoded) -> list[tuple[str, ...]]:
    """Each field as `HEADS` names them."""
    d = decoded.descriptor
    said = {
        "start address": (f"{d.start} ({d.start:#x})", "where the first element lies"),
        "LBO": (str(d.lbo), _meaning(decoded, "LBO")),
        "SBO": (str(d.sbo), _meaning(decoded, "SBO")),
        "version": ("", "of tcgen05's descriptors: 1"),
        "base offset": ("", "lines of 128 bytes into the swizzle pattern"),
        "LBO mode": ("", _mode_meaning(decoded)),
        "swizzle": (str(d.swizzle.width), _swizzle_meaning(d)),
    }
    return [
        (field.name, bit_range(field), str(field.encoded), *said[field.name])
        for field in decoded.fields
    ]


def forms(decoded: Decoded) -> tuple[str, ...]:
    """The operand's layout; without an element type, the form for each major."""
    d, reading = decoded.descriptor, decoded.reading
    if reading is None:
        swizzle = d.swizzle
        return tuple(
            f"{major}: {swizzle.cute} o {form.text}"
            for major in Major
            if (form := decoded.arch.forms.get((major, swizzle))) is not None
        )
    if reading.legal and len(reading.chunks) > 1:
        first, second = reading.chunks
        return (
            f"{reading.major}, in two chunks: of each row {first} bytes from {d.start:#x}, then "
            f"{second} from {d.lbo:#x}; {d.swizzle.cute}, the next 8 rows {d.sbo} bytes further",
        )
    return (f"{reading.major}: {decoded.layout}",) if decoded.layout is not None else ()


def _meaning(decoded: Decoded, name: str) -> str:
    d, known = decoded.descriptor, decoded.arch.forms
    if name == "LBO" and isinstance(d, Tcgen05Descriptor) and d.absolute:
        return f"address {d.lbo:#x}, at which the rest of the rows begins"
    if decoded.reading is not None:
        form = decoded.reading.form
        return meaning(form, name) if form is not None else "means nothing here"
    return "; ".join(
        f"{major}: {meaning(known[major, d.swizzle], name)}"
        for major in Major
        if (major, d.swizzle) in known
    )


def _mode_meaning(decoded: Decoded) -> str:
    return "LBO is an address" if field_of(decoded.bits, LBO_MODE) else "LBO is a distance"


def _swizzle_meaning(d: Descriptor) -> str:
    if not d.swizzle.value:
        return "none: core matrices of 8 rows of 16 bytes"
    unit, width = d.swizzle.unit_bytes, d.swizzle.width
    return f"{d.swizzle}: {unit}-byte units exchanged within {width} bytes"


def _taken_for(decoded: Decoded) -> str:
    """What is assumed of the instruction."""
    if decoded.reading is None:
        return "element type not given: --element says which"
    r = decoded.reading
    assumed = " (assumed: fewer suspicions; --major says which)" if decoded.assumed else ""
    return f"{r.rows} x {r.k} {r.element} of (m/n, k), {r.major}{assumed}"


def _reads(decoded: Decoded) -> str:
    ranges = decoded.ranges
    shown = ", ".join(f"{first:#x}-{last:#x}" for first, last in ranges[:_SHOWN])
    more = len(ranges) - _SHOWN
    total = sum(last - first + 1 for first, last in ranges)
    return f"{total} bytes: {shown}" + (f", and {more} more ranges" if more > 0 else "")
