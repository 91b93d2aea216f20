"""The tables of canonical layouts and of element types, as text and JSON data."""

from __future__ import annotations

from typing import Any

from ...layout import Major
from ...layout.instruction import instruction_k
from ..answer import data, text
from ..table import FormRow, FormTable, TypeRow, TypeTable
from .formats import offset_meaning
from .tables import text_table_of

#: For the head of each column, the key of its values in a row's data.
_FORMS = {
    "major": "major",
    "swizzle": "swizzle",
    "layout": "layout",
    "LBO": "lbo",
    "SBO": "sbo",
    "mode field": "descriptor_mode",
    "alignment": "alignment",
    "tensor map": "tensor_map",
}
_TYPES = {"type": "type", "bits": "bits", "K": "k", "K-major": "k_major", "MN-major": "mn_major"}

_FORM_NOTES = (
    "T is 16 bytes in elements; LBO and SBO are byte offsets; alignment is in bytes. --types prints the "
    "element types of each."
)

_TYPE_NOTES = "K is that of one instruction, 32 bytes. A dash: not readable with this major-ness."

_PADDED_NOTES = (
    "16 elements of a type _p32 or _p64 take 16 bytes, the last 4 or 8 of which are padding; bits "
    "include the padding."
)


@text.register
def _(table: FormTable) -> str:
    return f"{text_table_of(_FORMS, data(table))}\n\n{_FORM_NOTES}"


@text.register
def _(table: TypeTable) -> str:
    if not table.arch.kinds:
        return f"{text_table_of(_TYPES, data(table))}\n\n{_TYPE_NOTES}"
    rows = text_table_of(_TYPES | {"kinds": "kinds"}, data(table))
    return f"{rows}\n\n{_TYPE_NOTES}\n{_PADDED_NOTES}"


@data.register
def _(row: FormRow) -> dict[str, Any]:
    """Quantities are in bytes, unless a name has another unit."""
    form, swizzle = row.form, row.form.swizzle
    return {
        "major": form.major.value,
        "swizzle": str(swizzle),
        "layout": f"{swizzle.cute} o {form.text}",
        "lbo": offset_meaning(form, "LBO"),
        "sbo": offset_meaning(form, "SBO"),
        "descriptor_mode": row.descriptor_mode,
        "atom": [swizzle.lines, swizzle.width],
        "alignment": swizzle.pattern_bytes,
        "tensor_map": swizzle.tensor_map,
    }


@data.register
def _(row: TypeRow) -> dict[str, Any]:
    """K is the K of one instruction, in elements."""
    return {
        "type": str(row.element),
        "bits": row.element.bits,
        "kinds": row.kinds,
        "k": instruction_k(row.element),
        "k_major": list(map(str, row.swizzles(Major.K))),
        "mn_major": list(map(str, row.swizzles(Major.MN))),
    }


@data.register
def _(table: FormTable | TypeTable) -> list[dict[str, Any]]:
    return [data(row) for row in table.rows]
