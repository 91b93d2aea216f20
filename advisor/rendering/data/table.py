"""The tables of canonical layouts and of element types, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout import Major
from ....layout.instruction import instruction_k
from ...answer import data
from ...table import FormRow, FormTable, TypeRow, TypeTable
from ..text.offsets import offset_meaning


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
    """K is that of one instruction, in elements."""
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
