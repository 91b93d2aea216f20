"""The operand that an instruction reads by a descriptor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import cast

import numpy as np

from ..layout import Arch, Descriptor, Element, Form, Major, Swizzle
from ..layout.instruction import INSTRUCTION_K_BYTES
from ..layout.overlap import shared_place
from ..layout.tcgen05 import LONG_K_BYTES, Tcgen05Descriptor


@dataclass(frozen=True)
class Reading:
    """A descriptor, and the properties of the instruction that reads by it.

    Attributes:
        descriptor: the descriptor.
        element: the element type.
        major: the contiguous dimension, given by the instruction's modifiers.
        rows: the operand's extent along m or n.
        arch: the architecture.
        k_bytes: bytes along K that the instruction reads.
    """

    descriptor: Descriptor
    element: Element
    major: Major
    rows: int
    arch: Arch = Arch.SM_90
    k_bytes: int = INSTRUCTION_K_BYTES

    @property
    def k(self) -> int:
        """K of the instruction, in elements."""
        return self.k_bytes * 8 // self.element.bits

    @property
    def form(self) -> Form | None:
        """The canonical layout; None if there is none with this major-ness and swizzle."""
        return self.arch.forms.get((self.major, self.descriptor.swizzle))

    @property
    def absolute(self) -> bool:
        """Whether LBO is an absolute address."""
        d = self.descriptor
        return isinstance(d, Tcgen05Descriptor) and d.absolute

    @property
    def chunks(self) -> tuple[int, ...]:
        """Bytes along K of each contiguous chunk: two numbers where a second chunk starts at LBO."""
        d = self.descriptor
        return d.chunks(self.k_bytes) if isinstance(d, Tcgen05Descriptor) else (self.k_bytes,)

    @property
    def row_problem(self) -> str | None:
        """Why no instruction reads rows of `k_bytes` bytes by the descriptor; None if one can."""
        d = self.descriptor
        return d.row_problem(self.k_bytes) if isinstance(d, Tcgen05Descriptor) else None

    @property
    def is_legal(self) -> bool:
        """Whether the instructions read the element type with this swizzle, major-ness and K."""
        d = self.descriptor
        if d.swizzle not in self.arch.swizzles_of(self.element, self.major):
            return False
        if self.k_bytes not in self.arch.k_bytes or (self.absolute and self.major is Major.MN):
            return False
        long = self.k_bytes == LONG_K_BYTES
        if long and not (self.element.bits == 4 and d.swizzle is Swizzle.B128):
            return False
        return self.row_problem is None

    @cached_property
    def addresses(self) -> np.ndarray:
        """int64[rows, k]: the byte address of each element that one instruction reads."""
        bits = self.descriptor.encode()
        return self.arch.addresses(bits, self.element, self.major, self.rows, self.k_bytes)

    @property
    def steps(self) -> dict[str, int]:
        """LBO and SBO in bytes, by name, as far as the instruction uses them."""
        offsets: dict[str, int] = {}
        assert self.form is not None
        atom = self.form.layout(self.element, 1, 1, 0, 0)
        extents = (self.rows, self.k)
        for modes, strides, extent in zip(atom.modes, self.form.strides, extents, strict=True):
            name = strides[-1]
            if name in ("LBO", "SBO") and extent > prod(mode.extent for mode in modes[:-1]):
                offsets[name] = getattr(self.descriptor, name.lower())
        return offsets

    @cached_property
    def overlap(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """Two elements (row, k) that are read from the same place; None if there are none."""
        bits = self.element.bits
        places = self.addresses * 8 + np.arange(self.addresses.shape[1]) * bits % 8
        return cast("tuple[tuple[int, int], tuple[int, int]] | None", shared_place(places))

    @property
    def with_exchanged_offsets(self) -> Reading:
        """The same reading with LBO and SBO exchanged."""
        d = self.descriptor
        return replace(self, descriptor=replace(d, lbo=d.sbo, sbo=d.lbo))

    @property
    def has_overlap(self) -> bool:
        """Whether swizzle atoms or elements overlap."""
        atom = self.descriptor.swizzle.atom_bytes
        return any(step < atom for step in self.steps.values()) or self.overlap is not None
