"""The tables of canonical layouts and of element types, with what follows from each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..layout import Element, Form, Major, Swizzle
from ..layout.arch import Arch


@dataclass(frozen=True)
class FormRow:
    """A canonical layout, and the numbers that go with its swizzling mode."""

    form: Form
    arch: Arch = Arch.SM_90

    def data(self) -> dict[str, Any]:
        """The row for JSON; bytes where a name says nothing else."""
        swizzle = self.form.swizzle
        return {
            "major": self.form.major.value,
            "swizzle": str(swizzle),
            "layout": f"{swizzle.cute} o {self.form.text}",
            "lbo": meaning(self.form, "LBO"),
            "sbo": meaning(self.form, "SBO"),
            "descriptor_mode": self.arch.descriptor.modes[swizzle],
            "atom": [swizzle.lines, swizzle.width],
            "alignment": swizzle.pattern_bytes,
            "tensor_map": swizzle.tensor_map,
        }


def forms(arch: Arch = Arch.SM_90) -> list[FormRow]:
    """The rows in the order of the ISA; a form that CuTe adds is the last."""
    return [FormRow(form, arch) for form in arch.forms.values()]


@dataclass(frozen=True)
class TypeRow:
    """A type of A or B, and how it is read from shared memory."""

    element: Element
    arch: Arch

    def data(self) -> dict[str, Any]:
        """The row for JSON: the kinds of `tcgen05.mma` that multiply it, K of one instruction in
        elements, and with each major the swizzles that it is read with."""
        kinds = [kind.name for kind in self.arch.kinds if self.element in kind.codes]
        return {
            "type": str(self.element),
            "bits": self.element.bits,
            "kinds": kinds,
            "k": self.element.instruction_k,
            "k_major": self._swizzles(Major.K),
            "mn_major": self._swizzles(Major.MN),
        }

    def _swizzles(self, major: Major) -> list[str]:
        return [str(swizzle) for swizzle in self.arch.swizzles_of(self.element, major)]


def types(arch: Arch = Arch.SM_90) -> list[TypeRow]:
    """The types that an architecture multiplies."""
    return [TypeRow(element, arch) for element in arch.elements.values()]


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
