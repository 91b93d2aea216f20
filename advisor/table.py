"""The tables of canonical layouts and of element types."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout import Element, Form, Major, Swizzle
from ..layout.arch import Arch
from .answer import Answer


@dataclass(frozen=True)
class FormRow(Answer):
    """A canonical layout, and the properties of its swizzling mode."""

    form: Form
    arch: Arch = Arch.SM_90

    @property
    def descriptor_mode(self) -> int:
        """The encoding of the swizzling mode in a descriptor."""
        return self.arch.descriptor.modes[self.form.swizzle]


def forms(arch: Arch = Arch.SM_90) -> list[FormRow]:
    """Return the rows in the order of the ISA; a form of CuTe's is the last.

    Args:
        arch: the architecture.

    Example:
        >>> print(forms()[0].form.text)
        ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
    """
    return [FormRow(form, arch) for form in arch.forms.values()]


@dataclass(frozen=True)
class FormTable(Answer):
    """The canonical layouts of an architecture.

    Example:
        >>> str(FormTable()).splitlines()[2].split()[:2]
        ['mn', 'none']
    """

    arch: Arch = Arch.SM_90

    @property
    def rows(self) -> list[FormRow]:
        """One row per canonical layout."""
        return forms(self.arch)


@dataclass(frozen=True)
class TypeRow(Answer):
    """An element type of A or B, and how it is read from shared memory."""

    element: Element
    arch: Arch

    @property
    def kinds(self) -> list[str]:
        """The kinds of `tcgen05.mma` with this element type."""
        return [kind.name for kind in self.arch.kinds if self.element in kind.codes]

    def swizzles(self, major: Major) -> tuple[Swizzle, ...]:
        """Return the legal swizzling modes for a major-ness."""
        return tuple(self.arch.swizzles_of(self.element, major))


def types(arch: Arch = Arch.SM_90) -> list[TypeRow]:
    """Return the element types of A and B of an architecture.

    Args:
        arch: the architecture.

    Example:
        >>> [str(row.element) for row in types()][:3]
        ['f16', 'bf16', 'tf32']
    """
    return [TypeRow(element, arch) for element in arch.elements.values()]


@dataclass(frozen=True)
class TypeTable(Answer):
    """The element types of A and B of an architecture, and how each is read.

    Example:
        >>> print(str(TypeTable()).splitlines()[0])
        type  bits  K    K-major               MN-major
    """

    arch: Arch = Arch.SM_90

    @property
    def rows(self) -> list[TypeRow]:
        """One row per element type."""
        return types(self.arch)
