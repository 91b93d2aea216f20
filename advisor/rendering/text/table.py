"""The tables of canonical layouts and of element types, as people read them."""

from __future__ import annotations

from ...answer import data, text
from ...table import FormTable, TypeTable
from ..tables import columns_of

#: The heads of the columns, and what of a row's data stands below each.
_FORMS = {
    "major": "major",
    "swizzle": "swizzle",
    "layout": "layout",
    "LBO": "lbo",
    "SBO": "sbo",
    "field": "descriptor_mode",
    "alignment": "alignment",
    "tensor map": "tensor_map",
}
_TYPES = {"type": "type", "bits": "bits", "K": "k", "K-major": "k_major", "MN-major": "mn_major"}

_FORM_NOTES = (
    "T is 16 bytes in elements; LBO and SBO are byte offsets. Alignment in bytes. The types that are "
    "read so: --types."
)

_TYPE_NOTES = "K is that of one instruction, 32 bytes. A dash stands where a type is not read so."

_PADDED_NOTES = (
    "Of a type named _p32 or _p64, 16 elements take 16 bytes, the last of which hold nothing: its bits "
    "are counted so."
)


@text.register
def _(table: FormTable) -> str:
    return f"{columns_of(_FORMS, data(table))}\n\n{_FORM_NOTES}"


@text.register
def _(table: TypeTable) -> str:
    if not table.arch.kinds:
        return f"{columns_of(_TYPES, data(table))}\n\n{_TYPE_NOTES}"
    rows = columns_of(_TYPES | {"kinds": "kinds"}, data(table))
    return f"{rows}\n\n{_TYPE_NOTES}\n{_PADDED_NOTES}"
