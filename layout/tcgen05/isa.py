"""The instruction set `tcgen05`; one thread issues an MMA for its CTA or CTA pair (PTX ISA 9.7.16)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from ..accumulators import ACCUMULATORS, Accumulator
from ..canonical import DENSE_FORMS, Forms, Major
from ..descriptor import Descriptor
from ..elements import Element
from ..instruction import INSTRUCTION_K_BYTES
from ..isa import MmaIsa
from ..modes import LayoutError
from ..swizzle import Swizzle
from .descriptor import TCGEN05_WIDEST_FIRST, Tcgen05Descriptor
from .instruction import Tcgen05Instruction
from .kinds import KINDS, MULTIPLICANDS, Kind
from .operand import swizzles_of, tcgen05_addresses
from .shapes import LONG_K_BYTES, TCGEN05_M


@dataclass(frozen=True)
class Tcgen05(MmaIsa):
    """The instruction set of sm_100, or of an architecture with other kinds.

    Attributes:
        has_integers: whether it has `.kind::i8`.
        has_long_k: whether block-scaled instructions on 4-bit types can read 48 bytes along K. A
            descriptor's LBO may then be an address.
    """

    name: ClassVar[str] = "tcgen05"
    descriptor: ClassVar[type[Descriptor]] = Tcgen05Descriptor
    swizzles: ClassVar[tuple[Swizzle, ...]] = TCGEN05_WIDEST_FIRST
    forms: ClassVar[Forms] = DENSE_FORMS
    instruction_m: ClassVar[tuple[int, ...]] = (TCGEN05_M, TCGEN05_M // 2)
    has_tensor_memory: ClassVar[bool] = True
    ctas: ClassVar[tuple[int, ...]] = (1, 2)

    has_integers: bool = True
    has_long_k: bool = False

    @property
    def k_bytes(self) -> tuple[int, ...]:
        """See `MmaIsa.k_bytes`."""
        return (INSTRUCTION_K_BYTES, *([LONG_K_BYTES] if self.has_long_k else []))

    @property
    def has_absolute_lbo(self) -> bool:
        """See `MmaIsa.has_absolute_lbo`."""
        return self.has_long_k

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """See `MmaIsa.kinds`."""
        return _kinds(self.has_integers)

    @property
    def elements(self) -> tuple[Element, ...]:
        """See `MmaIsa.elements`."""
        return _elements(self.has_integers)

    def accumulators(self, a: Element, b: Element, scaled: bool = False) -> tuple[Accumulator, ...]:
        """See `MmaIsa.accumulators`."""
        for kind in self.kinds:
            if kind.multiplies(a, b) and bool(kind.scales) == scaled:
                return tuple(ACCUMULATORS[name] for name in kind.accumulators_of(a))
        return ()

    def partners(self, a: Element) -> tuple[Element, ...]:
        """See `MmaIsa.partners`; in the order of the kinds."""
        unscaled_kinds = (kind for kind in self.kinds if not kind.scales)
        types = (b for kind in unscaled_kinds for b in kind.codes if kind.multiplies(a, b))
        return tuple(dict.fromkeys(types))

    def swizzles_of(self, element: Element, major: Major) -> tuple[Swizzle, ...]:
        """See `MmaIsa.swizzles_of`."""
        return swizzles_of(element, major)

    def addresses(
        self, descriptor: int, element: Element, major: Major, rows: int, k_bytes: int
    ) -> np.ndarray:
        """See `tcgen05_addresses`."""
        return tcgen05_addresses(descriptor, element.name, major.value, rows, k_bytes)

    def instruction(
        self, a: Element, b: Element, sparse: bool = False, ctas: int = 1
    ) -> Tcgen05Instruction:
        """See `MmaIsa.instruction`; of the first kind that multiplies the types."""
        kind = next((kind for kind in self.kinds if kind.multiplies(a, b)), None)
        if kind is None or sparse or ctas not in self.ctas:
            how = " with a sparse A" * sparse + f" in {ctas} CTAs" * (ctas not in self.ctas)
            raise LayoutError(f"tcgen05 does not multiply {a} by {b}{how}")
        return Tcgen05Instruction(kind, ctas)


@cache
def _kinds(integers: bool) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS.values() if integers or kind.name != "i8")


@cache
def _elements(integers: bool) -> tuple[Element, ...]:
    kinds = _kinds(integers)
    return tuple(e for e in MULTIPLICANDS if any(kind.multiplies(e, e) for kind in kinds))
