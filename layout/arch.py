"""Architectures, and what differs between the instructions that multiply tiles from shared memory."""

from __future__ import annotations

import re
from enum import Enum
from typing import Self

import numpy as np

from .canonical import FORMS, TCGEN05_FORMS, Form, Major, Mismatch
from .choice import OperandUse, Use
from .descriptor import Descriptor
from .elements import ELEMENTS, INSTRUCTION_K_BYTES, NARROW, Element
from .instruction import INSTRUCTION_M
from .operand import OperandBlocks, Role, operand_addresses, operand_blocks
from .path import Step
from .swizzle import TCGEN05_WIDEST_FIRST, WIDEST_FIRST, Swizzle
from .tcgen05 import (
    KINDS,
    LONG_K_BYTES,
    Kind,
    Tcgen05Descriptor,
    Tcgen05Use,
    swizzles_of,
    tcgen05_addresses,
    tcgen05_blocks,
)
from .text_error import TextError
from .tile import TileLayout

_NAME = re.compile(r"(sm_\d+)[af]?")


class Arch(Enum):
    """An architecture, valued by its name: `wgmma` multiplies on the first, `tcgen05` on the others."""

    SM_90 = "sm_90"
    SM_100 = "sm_100"
    SM_103 = "sm_103"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The architecture of that name; compilers' targets such as `sm_90a` and `sm_100f` too.

        Raises:
            TextError: if there is none.
        """
        found = _NAME.fullmatch(text)
        names = [arch.value for arch in cls]
        if found is None or found[1] not in names:
            raise TextError("arch", text, 0, f"expected one of {', '.join(names)}", "sm_100")
        return cls(found[1])

    @property
    def is_tcgen05(self) -> bool:
        """Whether `tcgen05` multiplies, and not `wgmma`."""
        return self is not Arch.SM_90

    @property
    def descriptor(self) -> type[Descriptor]:
        """The descriptors of operands in shared memory."""
        return Tcgen05Descriptor if self.is_tcgen05 else Descriptor

    @property
    def swizzles(self) -> tuple[Swizzle, ...]:
        """The swizzling modes, the preferred first."""
        return TCGEN05_WIDEST_FIRST if self.is_tcgen05 else WIDEST_FIRST

    @property
    def forms(self) -> dict[tuple[Major, Swizzle], Form]:
        """The canonical layouts of dense operands."""
        return TCGEN05_FORMS if self.is_tcgen05 else FORMS

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of `tcgen05.mma`; none of `wgmma`. Only sm_100 multiplies integers."""
        if not self.is_tcgen05:
            return ()
        return tuple(k for k in KINDS.values() if self is Arch.SM_100 or k.name != "i8")

    @property
    def elements(self) -> dict[str, Element]:
        """The types that it multiplies, by name."""
        known = ELEMENTS | NARROW
        return {name: each for name, each in known.items() if self.multiplies(each)}

    @property
    def instruction_m(self) -> tuple[int, ...]:
        """Rows of A that one instruction reads of one block, the usual number first."""
        return (128, 64) if self.is_tcgen05 else (INSTRUCTION_M,)

    @property
    def k_bytes(self) -> tuple[int, ...]:
        """Bytes along K that one dense instruction reads, the usual number first."""
        return (INSTRUCTION_K_BYTES, *([LONG_K_BYTES] if self.has_absolute_lbo else []))

    @property
    def has_absolute_lbo(self) -> bool:
        """Whether a descriptor's LBO may be an address, for a K of 48 bytes (PTX ISA 9.7.16.3.1.2)."""
        return self is Arch.SM_103

    def kind_of(self, element: Element) -> Kind | None:
        """The first kind that multiplies two operands of that type; None if there is none."""
        return next((kind for kind in self.kinds if kind.multiplies(element, element)), None)

    def multiplies(self, element: Element) -> bool:
        """Whether the type is a multiplicand."""
        if not self.is_tcgen05:
            return element.multiplied
        return self.kind_of(element) is not None

    def objection(
        self, a: Element, b: Element, sparse: bool = False, scaled: bool = False, ctas: int = 1
    ) -> str | None:
        """Why a product cannot be computed; None if it can.

        Args:
            a, b: the types of A and B, which go together on some architecture.
            sparse: whether A is sparse.
            scaled: whether blocks along K are scaled.
            ctas: blocks that multiply together.
        """
        if sparse and self.is_tcgen05:
            return (
                f"multiplies a sparse A, which is lowered for {Arch.SM_90.instructions} "
                f"({Arch.SM_90}) only, not for {self}"
            )
        able = [
            arch
            for arch in Arch
            if arch._multiplies(a, b, scaled) and (ctas == 1 or arch.is_tcgen05)
        ]
        if self in able:
            return None
        others: dict[str, list[str]] = {}
        for arch in able:
            others.setdefault(arch.descriptor.reader, []).append(str(arch))
        said = " and ".join(f"{reader} ({', '.join(on)})" for reader, on in others.items())
        do = "do" if len(others) > 1 else "does"
        how = " with scaled blocks" if scaled else ""
        how += " in pairs of blocks of a cluster" if ctas > 1 else ""
        return f"multiplies {a} by {b}{how}, which {self.instructions} does not; {said} {do}"

    def _multiplies(self, a: Element, b: Element, scaled: bool) -> bool:
        """Whether it multiplies A by B, if any architecture does."""
        if not self.is_tcgen05:
            return a.multiplied and b.multiplied and not scaled
        return any(k.multiplies(a, b) for k in self.kinds if bool(k.scales) == scaled)

    def swizzles_of(self, element: Element, major: Major) -> tuple[Swizzle, ...]:
        """The swizzling modes in which a type is read with that major; none if it is not."""
        if not self.multiplies(element):
            return ()
        if self.is_tcgen05:
            return swizzles_of(element, major)
        return WIDEST_FIRST if major is Major.K or element.mn_major else ()

    def majors_of(self, element: Element) -> tuple[Major, ...]:
        """The majors with which a type is read."""
        return tuple(major for major in Major if self.swizzles_of(element, major))

    def addresses(
        self,
        descriptor: int,
        element: Element,
        major: Major,
        rows: int,
        k_bytes: int = INSTRUCTION_K_BYTES,
    ) -> np.ndarray:
        """The byte address that one dense instruction reads for each element of an operand: int64[rows,
        k]; see `operand_addresses` and `tcgen05_addresses`, which also say what is refused.

        Raises:
            ValueError: for a K that the architecture does not have, too.
        """
        if k_bytes not in self.k_bytes:
            has = " or ".join(map(str, self.k_bytes))
            raise ValueError(f"K is {k_bytes} bytes, but {self} reads {has} of each row")
        if not self.is_tcgen05:
            return operand_addresses(descriptor, element.name, major.value, rows)
        return tcgen05_addresses(descriptor, element.name, major.value, rows, k_bytes)

    def blocks(
        self,
        tile: TileLayout,
        role: Role,
        sparse: bool = False,
        ctas: int = 1,
        rows: int | None = None,
    ) -> OperandBlocks | Mismatch:
        """What each instruction reads of a tile, (M, K) for A and (K, N) for B, or why none can.

        Args:
            tile: the tile's layout; of a sparse A the compressed one, (M, K / 2).
            role: which operand it is.
            sparse: whether the instructions are sparse, which are `wgmma` alone.
            ctas: blocks that multiply together, of which this is the share of one; 2 is `tcgen05` alone.
            rows: the extent along m/n of each instruction; None cuts the tile as an mma does.
        """
        if not self.multiplies(tile.element):
            return Mismatch(f"{tile.element} is no multiplicand of {self.instructions}")
        if not self.is_tcgen05:
            return operand_blocks(tile, role, sparse, rows)
        if sparse:
            return Mismatch(f"no sparse operands are lowered for {self}")
        kind = self.kind_of(tile.element)
        assert kind is not None
        return tcgen05_blocks(tile, role, kind, ctas, rows)

    def use(
        self,
        what: str,
        role: Role,
        element: Element,
        path: tuple[Step, ...] = (),
        sparse: bool = False,
        ctas: int = 1,
    ) -> Use:
        """The use of a tile as an operand, for the choice of its layout.

        Args:
            what: the use in words.
            role: which operand it is.
            element: its type, a multiplicand.
            path: the steps to the part that is used.
            sparse: whether the instructions are sparse, which are `wgmma` alone.
            ctas: blocks that multiply together.
        """
        if not self.is_tcgen05:
            return OperandUse(what, role, path, sparse)
        kind = self.kind_of(element)
        assert kind is not None
        return Tcgen05Use(what, role, kind, ctas, path)

    @property
    def instructions(self) -> str:
        """The instructions that multiply, for messages: integers are what sm_103 lacks."""
        reader = self.descriptor.reader
        return f"{reader} on {self}" if self is Arch.SM_103 else reader

    def __str__(self) -> str:
        return self.value


def unreadable(tile: TileLayout, role: Role, sparse: bool = False, ctas: int = 1) -> str | None:
    """Why the instructions of no architecture read a tile of a multiplicand; None if some do.

    Args:
        tile, role, sparse, ctas: as those of `Arch.blocks`.
    """
    reasons = []
    for arch in Arch:
        if not arch.multiplies(tile.element) or (sparse if arch.is_tcgen05 else ctas > 1):
            continue
        found = arch.blocks(tile, role, sparse, ctas)
        if isinstance(found, OperandBlocks):
            return None
        reasons.append(found.reason)
    return "; ".join(dict.fromkeys(reasons))
