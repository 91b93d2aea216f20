"""Architectures: a table of names and of their MMA instruction sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .canonical import Forms, Major, Mismatch
from .descriptor import Descriptor
from .elements import Element
from .instruction import INSTRUCTION_K_BYTES
from .isa import MmaIsa
from .operand import MmaTiles, Role
from .path import PathElement
from .swizzle import Swizzle
from .text_error import TextError
from .tile import TileLayout
from .uses import Use

#: The architectures by name, in the order in which messages list them.
ARCHS: dict[str, Arch] = {}

#: Suffixes of compilers' targets: features of one architecture, or of its family.
_SUFFIXES = ("a", "f")


class _Table(type):
    """Metaclass that makes `Arch` the collection of the rows of the table."""

    def __iter__(cls) -> Iterator[Arch]:
        return iter(ARCHS.values())

    def __len__(cls) -> int:
        return len(ARCHS)

    def __contains__(cls, arch: object) -> bool:
        return arch in ARCHS.values()


@dataclass(frozen=True)
class Arch(metaclass=_Table):
    """An architecture.

    `for arch in Arch` iterates over the table. The instruction set holds the differences between
    architectures; the properties below delegate to it.

    Attributes:
        name: for example "sm_90".
        isa: the MMA instruction set.
        tma_pads: whether TMA pads elements of 4 and 6 bits that it writes to shared memory (CUDA driver
            API, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B).

    Example:
        >>> arch = ARCHS["sm_90"]
        >>> arch.k_bytes, [mode.name for mode in arch.swizzles]
        ((32,), ['B128', 'B64', 'B32', 'NONE'])
    """

    name: str
    isa: MmaIsa
    tma_pads: bool = False

    SM_90: ClassVar[Arch]
    SM_100: ClassVar[Arch]
    SM_103: ClassVar[Arch]

    # The table.

    @staticmethod
    def register(arch: Arch) -> Arch:
        """Add an architecture as the last row of the table, and return it.

        Raises:
            ValueError: if the table has an architecture of that name.
        """
        if arch.name in ARCHS:
            raise ValueError(f"there is an architecture {arch.name} already")
        return ARCHS.setdefault(arch.name, arch)

    @staticmethod
    def unregister(arch: Arch) -> None:
        """Remove a row of the table.

        Raises:
            KeyError: if the table does not have it.
        """
        del ARCHS[arch.name]

    @staticmethod
    def parse(text: str) -> Arch:
        """Return the architecture of that name, or of a compiler's target such as `sm_90a` or `sm_100f`.

        Raises:
            TextError: if the table has none of that name.
        """
        base_name = text[:-1] if text.endswith(_SUFFIXES) else text
        arch = ARCHS.get(text) or ARCHS.get(base_name)
        if arch is None:
            raise TextError("arch", text, 0, f"expected one of {', '.join(ARCHS)}", "sm_100")
        return arch

    def __str__(self) -> str:
        return self.name

    # Properties of the instruction set.

    @property
    def descriptor(self) -> type[Descriptor]:
        """The descriptors of operands in shared memory."""
        return self.isa.descriptor

    @property
    def swizzles(self) -> tuple[Swizzle, ...]:
        """The swizzling modes, in order of preference."""
        return self.isa.swizzles

    @property
    def forms(self) -> Forms:
        """The canonical layouts of dense operands."""
        return self.isa.forms

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The `.kind`s of the instructions; empty for `wgmma`."""
        return self.isa.kinds

    @property
    def elements(self) -> dict[str, Element]:
        """The element types of A and B, by name."""
        return {element.name: element for element in self.isa.elements}

    @property
    def instruction_m(self) -> tuple[int, ...]:
        """Rows of A that one instruction reads from one CTA, the usual number first."""
        return self.isa.instruction_m

    @property
    def k_bytes(self) -> tuple[int, ...]:
        """Bytes along K that one dense instruction reads, the usual number first."""
        return self.isa.k_bytes

    @property
    def has_absolute_lbo(self) -> bool:
        """Whether a descriptor's LBO may be an address, for a K of 48 bytes (PTX ISA 9.7.16.3.1.2)."""
        return self.isa.has_absolute_lbo

    def kind_of(self, element: Element) -> Any:
        """Return the first kind that multiplies two operands of that type, or None."""
        return next((kind for kind in self.kinds if kind.multiplies(element, element)), None)

    def multiplies(self, element: Element) -> bool:
        """Whether A and B can have that element type."""
        return element in self.isa.elements

    def swizzles_of(self, element: Element, major: Major) -> tuple[Swizzle, ...]:
        """Return the swizzling modes in which a type is read with that majorness; empty if it is not."""
        return self.isa.swizzles_of(element, major) if self.multiplies(element) else ()

    def majors_of(self, element: Element) -> tuple[Major, ...]:
        """Return the majornesses with which a type is read."""
        return tuple(major for major in Major if self.swizzles_of(element, major))

    def use(
        self,
        what: str,
        role: Role,
        element: Element,
        path: tuple[PathElement, ...] = (),
        sparse: bool = False,
        ctas: int = 1,
    ) -> Use:
        """Return the use of a tile as an operand, for the choice of its layout.

        Args:
            what: the use in words.
            role: A or B.
            element: the element type.
            path: the path to the subtile that is used.
            sparse: whether the instructions are sparse.
            ctas: CTAs that execute each instruction (`.cta_group`).
        """
        return self.isa.instruction(element, element, sparse, ctas).use(what, role, path)

    # Messages that name the architecture.

    @property
    def instructions(self) -> str:
        """The name of the instruction set, for messages; with the architecture if the element types are
        not those of the first architecture that has the set."""
        first = next((arch for arch in Arch if arch.isa.name == self.isa.name), self)
        has_same_types = self.isa.elements == first.isa.elements
        return self.isa.name if has_same_types else f"{self.isa.name} on {self}"

    def refusal(
        self, a: Element, b: Element, sparse: bool = False, scaled: bool = False, ctas: int = 1
    ) -> str | None:
        """Return why a matrix product cannot be computed, or None.

        Args:
            a, b: the element types of A and B; some architecture multiplies them.
            sparse: whether A is sparse.
            scaled: whether scale blocks along K are scaled.
            ctas: CTAs that execute each instruction (`.cta_group`).
        """
        if sparse and not self.isa.has_sparse:
            isas = _instruction_sets([arch for arch in Arch if arch.isa.has_sparse])
            readers = " and ".join(isas)
            return f"multiplies a sparse A, which is lowered for {readers} only, not for {self}"
        supporting = [
            arch for arch in Arch if ctas in arch.isa.ctas and arch.isa.accumulators(a, b, scaled)
        ]
        if self in supporting:
            return None
        isas = _instruction_sets(supporting)
        do = "do" if len(isas) > 1 else "does"
        how = " with block scaling" if scaled else ""
        how += " in CTA pairs" if ctas > 1 else ""
        return (
            f"multiplies {a} by {b}{how}, which {self.instructions} does not; "
            f"{' and '.join(isas)} {do}"
        )

    def addresses(
        self,
        descriptor: int,
        element: Element,
        major: Major,
        rows: int,
        k_bytes: int = INSTRUCTION_K_BYTES,
    ) -> np.ndarray:
        """Return the byte address that one dense instruction reads for each element of an operand.

        See `MmaIsa.addresses`: int64[rows, k].

        Raises:
            ValueError: as `MmaIsa.addresses`, and for a K that the architecture does not have.
        """
        if k_bytes not in self.k_bytes:
            has = " or ".join(map(str, self.k_bytes))
            raise ValueError(f"K is {k_bytes} bytes, but {self} reads {has} of each row")
        return self.isa.addresses(descriptor, element, major, rows, k_bytes)

    def mma_tiles(
        self,
        tile: TileLayout,
        role: Role,
        sparse: bool = False,
        ctas: int = 1,
        rows: int | None = None,
    ) -> MmaTiles | Mismatch:
        """Return the MMA tiles of a tile, (M, K) for A and (K, N) for B, or why no instruction reads it.

        Args:
            tile: the tile's layout; for a sparse A that of the compressed A, (M, K / 2).
            role: A or B.
            sparse: whether the instructions are sparse.
            ctas: CTAs that execute each instruction; the tile is the share of one CTA.
            rows: the extent along m/n of each instruction; None cuts the tile as an mma does.
        """
        element = tile.element
        if not self.multiplies(element):
            return Mismatch(f"{element} is not an A or B element type of {self.instructions}")
        if sparse and not self.isa.has_sparse:
            return Mismatch(f"no sparse operands are lowered for {self}")
        if ctas not in self.isa.ctas:
            return Mismatch(f"{self.instructions} has no instructions of {ctas} CTAs")
        return self.isa.instruction(element, element, sparse, ctas).mma_tiles(tile, role, rows)


def _instruction_sets(archs: list[Arch]) -> list[str]:
    """Return, for a message, the instruction sets of architectures, each with their names."""
    names: dict[str, list[str]] = {}
    for arch in archs:
        names.setdefault(arch.isa.name, []).append(arch.name)
    return [f"{isa} ({', '.join(arch_names)})" for isa, arch_names in names.items()]
