"""The tables of canonical layouts and of element types."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout import Element, Form, Major, Swizzle
from ..layout.arch import Arch
from .answer import Answer


@dataclass(frozen=True)
class FormRow(Answer):
    """A canonical layout, and the numbers that go with its swizzling mode."""

    form: Form
    arch: Arch = Arch.SM_90

    @property
    def descriptor_mode(self) -> int:
        """What the swizzling mode's field of a descriptor holds."""
        return self.arch.descriptor.modes[self.form.swizzle]


def forms(arch: Arch = Arch.SM_90) -> list[FormRow]:
    """The rows in the order of the ISA; a form that CuTe adds is the last."""
    return [FormRow(form, arch) for form in arch.forms.values()]


@dataclass(frozen=True)
class FormTable(Answer):
    """The canonical layouts that an architecture reads."""

    arch: Arch = Arch.SM_90

    @property
    def rows(self) -> list[FormRow]:
        """A row for each."""
        return forms(self.arch)


@dataclass(frozen=True)
class TypeRow(Answer):
    """A type of A or B, and how it is read from shared memory."""

    element: Element
    arch: Arch

    @property
    def kinds(self) -> list[str]:
        """The kinds of `tcgen05.mma` that multiply it."""
        return [kind.name for kind in self.arch.kinds if self.element in kind.codes]

    def swizzles(self, major: Major) -> tuple[Swizzle, ...]:
        """The swizzling modes that it is read with where that dimension is contiguous."""
        return tuple(self.arch.swizzles_of(self.element, major))


def types(arch: Arch = Arch.SM_90) -> list[TypeRow]:
    """The types that an architecture multiplies."""
    return [TypeRow(element, arch) for element in arch.elements.values()]


@dataclass(frozen=True)
class TypeTable(Answer):
    """The types that an architecture multiplies, and how it reads each."""

    arch: Arch = Arch.SM_90

    @property
    def rows(self) -> list[TypeRow]:
        """A row for each."""
        return types(self.arch)
