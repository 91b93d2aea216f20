"""The table of canonical layouts, with what follows from each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..layout import FORMS, Form, Major, Swizzle


@dataclass(frozen=True)
class FormRow:
    """A canonical layout, and the numbers that go with its swizzling mode."""

    form: Form

    def data(self) -> dict[str, Any]:
        """The row for JSON; bytes where a name says nothing else."""
        swizzle = self.form.swizzle
        return {
            "major": self.form.major.value,
            "swizzle": str(swizzle),
            "layout": f"{swizzle.cute} o {self.form.text}",
            "lbo": meaning(self.form, "LBO"),
            "sbo": meaning(self.form, "SBO"),
            "descriptor_mode": swizzle.wgmma_field,
            "atom": [8, swizzle.width],
            "alignment": swizzle.pattern_bytes,
            "tensor_map": swizzle.tensor_map,
        }


def forms() -> list[FormRow]:
    """The rows in the order of the ISA."""
    return [FormRow(form) for form in FORMS.values()]


def meaning(form: Form, name: str) -> str:
    """What an offset steps over, in words."""
    if name not in form.text:
        return "not used"
    in_rows = name in form.strides[0]
    plain = form.swizzle is Swizzle.NONE
    if form.major is Major.K:
        return "to the next 8 rows of m/n" if in_rows else "to the next 16 bytes of k"
    if not in_rows:
        return f"to the next {form.swizzle.lines} of k"
    return f"to the next {16 if plain else form.swizzle.width} bytes of m/n"
