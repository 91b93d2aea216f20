"""What multiplies the operands, and how it reads them from shared memory: `wgmma` or `tcgen05.mma`."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import ClassVar

from ..layout import (
    Canonical,
    Descriptor,
    Element,
    LayoutError,
    Major,
    OperandBlocks,
    OperandUse,
    Role,
    Step,
    Swizzle,
    TileLayout,
    accumulators,
    operand_blocks,
    partners,
)
from ..layout.arch import Arch
from ..layout.choice import Use
from ..layout.elements import INSTRUCTION_K_BYTES
from ..layout.instruction import INSTRUCTION_M, n_rule, widest_first
from ..layout.tcgen05 import Chunks, Kind, Tcgen05Use, chunked_blocks, tcgen05_blocks
from ..layout.tcgen05.shapes import LONG_K_BYTES, legal_m, legal_n


@dataclass(frozen=True)
class Wgmma:
    """`wgmma` of one warpgroup."""

    name: ClassVar[str] = "wgmma"
    arch: ClassVar[Arch] = Arch.SM_90
    k_bytes: ClassVar[int] = INSTRUCTION_K_BYTES

    def use(self, role: Role, path: tuple[Step, ...]) -> Use:
        """The use of a part of a tile as an operand."""
        return OperandUse(self.name, role, path)

    def blocks(self, tile: TileLayout, role: Role) -> OperandBlocks | None:
        """The instructions' shares of a tile; None if they cannot read it."""
        found = operand_blocks(tile, role)
        return found if isinstance(found, OperandBlocks) else None

    def check_mn(self, role: Role, element: Element, mn: int) -> None:
        """Checks that instructions divide an operand's extent along M or N; see `check_extents`."""
        if role is Role.A and mn % INSTRUCTION_M:
            raise LayoutError(
                f"A: M is {mn}; expected a multiple of {INSTRUCTION_M}, {nearest(mn, INSTRUCTION_M)}"
            )
        if role is Role.B and mn % 8:
            raise LayoutError(f"B: N is {mn}; expected {n_rule(element, mn)}")

    def check_types(self, a: Element, b: Element) -> None:
        """Checks that A and B go together.

        Raises:
            LayoutError: if they do not, with what would fit.
        """
        if not accumulators(a, b):
            fit = " or ".join(str(partner) for partner in partners(a) if partner.multiplied)
            raise LayoutError(f"wgmma does not multiply {a} by {b}; beside an A of {a}, B is {fit}")


@dataclass(frozen=True)
class Tcgen05:
    """`tcgen05.mma` of one kind; tiles are those of one block.

    Attributes:
        arch: the architecture.
        kind: the kind.
        ctas: blocks that multiply together, each with its share of the rows of A and columns of B.
        scale: for a block-scaled kind, the type of its scale factors.
        k_bytes: bytes along K of one instruction: 32, or 48 on sm_103.
        block: elements along K that share a scale factor; None without them.
    """

    name: ClassVar[str] = "tcgen05"
    arch: Arch
    kind: Kind
    ctas: int = 1
    scale: str | None = None
    k_bytes: int = INSTRUCTION_K_BYTES
    block: int | None = None

    def use(self, role: Role, path: tuple[Step, ...]) -> Use:
        """The use of a part of a tile as an operand."""
        return Tcgen05Use(self.name, role, self.kind, self.ctas, path, self.k_bytes)

    def blocks(self, tile: TileLayout, role: Role) -> OperandBlocks | Chunks | None:
        """The instructions' shares of a tile; None if they cannot read it."""
        cut = chunked_blocks if self.k_bytes == LONG_K_BYTES else tcgen05_blocks
        found = cut(tile, role, self.kind, self.ctas)
        return found if isinstance(found, OperandBlocks | Chunks) else None

    def check_mn(self, role: Role, element: Element, mn: int) -> None:
        """Checks that instructions divide an operand's extent along M or N; see `check_extents`."""
        each = f" in each of {self.ctas} blocks" if self.ctas > 1 else ""
        if role is Role.A:
            step = min(legal_m(self.kind, self.ctas)) // self.ctas
            fits = mn % step == 0
        else:
            legal = legal_n(self.kind, element, self.ctas, k_bytes=self.k_bytes)
            step = legal[0] // self.ctas
            fits = widest_first(legal, mn * self.ctas) is not None
        if not fits:
            raise LayoutError(
                f"{role.name}: {role.extent_name} is {mn}{each}; kind::{self.kind} takes multiples of "
                f"{step}{each}, {nearest(mn, step)}"
            )

    def check_types(self, a: Element, b: Element) -> None:
        """Nothing: the kind is one that multiplies them."""


Multiplier = Wgmma | Tcgen05


def canonical_of(blocks: OperandBlocks | Chunks) -> Canonical:
    """The canonical layout of what instructions read; that of the atoms where rows come in chunks."""
    if isinstance(blocks, OperandBlocks):
        return blocks.canonical
    return Canonical(Major.K, Swizzle.B128, None, blocks.sbo)


def first_descriptor(blocks: OperandBlocks | Chunks, address: int = 0) -> Descriptor:
    """The descriptor of the first block of a tile at that byte address."""
    if isinstance(blocks, OperandBlocks):
        return blocks.descriptor(address)
    return blocks.descriptor(0, 0, address)


def check_extents(by: Multiplier, role: Role, element: Element, shape: tuple[int, ...]) -> None:
    """Checks that instructions divide an operand's tile: (M, K) of A, (K, N) of B.

    Raises:
        LayoutError: if they do not; the message names the operand and what would fit.
    """
    k_dim = 1 if role is Role.A else 0
    k, mn = shape[k_dim], shape[1 - k_dim]
    whole = step = by.k_bytes * 8 // element.bits
    atoms = ""
    if by.k_bytes == LONG_K_BYTES:
        atom = Swizzle.B128.atom_elements(element)
        whole, atoms = lcm(step, atom), f", of whole atoms of {atom}"
    if k % whole:
        raise LayoutError(
            f"{role.name}: K is {k}; {by.name} takes {step} elements of {element} at a time{atoms}: "
            f"expected a multiple of {whole}, {nearest(k, whole)}"
        )
    by.check_mn(role, element, mn)


def nearest(extent: int, step: int) -> str:
    """The multiples of a step next to an extent, as examples."""
    below, above = extent // step * step, -(-extent // step) * step
    return "for example " + " or ".join(str(x) for x in (below, above) if x)
