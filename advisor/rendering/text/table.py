"""The tables of canonical layouts and of element types, as text."""

from __future__ import annotations

from ...answer import data, text
from ...table import FormTable, TypeTable
from ..tables import columns_of

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
    return f"{columns_of(_FORMS, data(table))}\n\n{_FORM_NOTES}"


@text.register
def _(table: TypeTable) -> str:
    if not table.arch.kinds:
        return f"{columns_of(_TYPES, data(table))}\n\n{_TYPE_NOTES}"
    rows = columns_of(_TYPES | {"kinds": "kinds"}, data(table))
    return f"{rows}\n\n{_TYPE_NOTES}\n{_PADDED_NOTES}"
