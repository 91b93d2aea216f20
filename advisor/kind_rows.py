"""The kinds of `tcgen05.mma`: their instruction shapes and scale factors."""

from __future__ import annotations

from dataclasses import dataclass

from ..layout import LayoutError, TileLayout
from ..layout.arch import Arch
from ..layout.elements import UE8M0
from ..layout.instruction import INSTRUCTION_K_BYTES
from ..layout.tcgen05 import LONG_K_BYTES, Kind, MmaShape, scale_blocks, scale_factors, scale_layout
from ..layout.tcgen05.scales import BLOCK_FACTORS, BLOCK_ROWS, SCALE_IDS, ScaleBlocks
from ..layout.tcgen05.shapes import legal_m, legal_n
from .answer import Answer


@dataclass(frozen=True)
class KindShapes(Answer):
    """The shapes of a kind's instructions.

    Attributes:
        ctas: CTAs of the MMA, the N of `.cta_group::N`.
        m: every legal M, over all CTAs.
        n: every legal N, over all CTAs, where B is K-major and K is the first of the kind.
    """

    ctas: int
    m: tuple[int, ...]
    n: tuple[int, ...]


@dataclass(frozen=True)
class KindRow(Answer):
    """A kind, and the shapes of its instructions."""

    kind: Kind
    arch: Arch

    @property
    def k(self) -> list[int]:
        """K in elements, for each number of bytes that instructions read along K."""
        element = next(iter(self.kind.codes))
        return [
            MmaShape(0, 0, k_bytes=size).k(element) for size in k_bytes_of(self.kind, self.arch)
        ]

    @property
    def shapes(self) -> list[KindShapes]:
        """The shapes for one CTA and for a CTA pair."""
        kind, element = self.kind, next(iter(self.kind.codes))
        return [
            KindShapes(ctas, tuple(legal_m(kind, ctas)), tuple(legal_n(kind, element, ctas)))
            for ctas in (1, 2)
        ]


@dataclass(frozen=True)
class ScaleRow(Answer):
    """Scale factors of a kind.

    Attributes:
        kind: the kind.
        scale: the type of the scale factors.
        block: elements along K per scale factor.
        k_bytes: bytes along K that an instruction reads.
    """

    kind: Kind
    scale: str
    block: int
    k_bytes: int

    @property
    def k(self) -> int:
        """K of an instruction, in elements."""
        return MmaShape(0, 0, k_bytes=self.k_bytes).k(next(iter(self.kind.codes)))

    @property
    def factors(self) -> int:
        """Scale factors of a row that an instruction reads."""
        return scale_factors(self.kind, MmaShape(0, 0, k_bytes=self.k_bytes), self.block)

    @property
    def vector(self) -> str | None:
        """The ISA's `.scale_vec` qualifier; None for K = 96."""
        return None if self.k_bytes == LONG_K_BYTES else f"scale_vec::{self.factors}X"

    @property
    def ids(self) -> tuple[int, ...]:
        """The legal scale factor IDs: first byte of an instruction's factors in a word."""
        return tuple(SCALE_IDS[self.factors])


@dataclass(frozen=True)
class ScaleBlock(Answer):
    """A block of scale factors in shared memory.

    Attributes:
        layout: its layout, (rows, factors).
        blocks: the blocks that `tcgen05.cp` copies.
    """

    layout: TileLayout
    blocks: ScaleBlocks


def k_bytes_of(kind: Kind, arch: Arch) -> tuple[int, ...]:
    """Return the bytes along K that instructions of a kind read, the default first."""
    packed = all(element.bits == 4 for element in kind.codes)
    return arch.k_bytes if packed else (INSTRUCTION_K_BYTES,)


def kinds(arch: Arch) -> list[KindRow]:
    """Return the kinds of an architecture; `wgmma` has none.

    Args:
        arch: the architecture, for example `ARCHS["sm_100"]`.

    Example:
        >>> [row.kind.name for row in kinds(ARCHS["sm_100"])]
        ['f16', 'tf32', 'f8f6f4', 'i8', 'mxf8f6f4', 'mxf4', 'mxf4nvf4']
    """
    return [KindRow(kind, arch) for kind in arch.kinds]


def scales(arch: Arch) -> list[ScaleRow]:
    """Return the scale factors of the kinds of an architecture.

    Args:
        arch: the architecture, for example `ARCHS["sm_100"]`.

    Example:
        >>> [(row.kind.name, row.scale, row.block) for row in scales(ARCHS["sm_100"])][:2]
        [('mxf8f6f4', 'ue8m0', 32), ('mxf4', 'ue8m0', 32)]
    """
    return [
        ScaleRow(kind, scale, block, k_bytes)
        for kind in arch.kinds
        for k_bytes in k_bytes_of(kind, arch)
        for scale, block in kind.scales
    ]


def scale_block() -> ScaleBlock:
    """Return the block of scale factors, which is the same for every kind."""
    layout = scale_layout(UE8M0, BLOCK_ROWS, BLOCK_FACTORS)
    blocks = scale_blocks(layout)
    assert isinstance(blocks, ScaleBlocks)
    return ScaleBlock(layout, blocks)


@dataclass(frozen=True)
class KindTable(Answer):
    """The kinds of an architecture.

    Raises:
        LayoutError: if it has none.

    Example:
        >>> str(KindTable()).splitlines()[2].split()[0]
        'f16'
    """

    arch: Arch = Arch.SM_100

    def __post_init__(self) -> None:
        _check_kinds(self.arch)

    @property
    def rows(self) -> list[KindRow]:
        """One row per kind."""
        return kinds(self.arch)


@dataclass(frozen=True)
class ScaleTable(Answer):
    """The scale factors of the kinds of an architecture, and their layout.

    Raises:
        LayoutError: if it has no kinds.

    Example:
        >>> print(str(ScaleTable()).splitlines()[0])
        kind      scale type  block size  K   factors per row  qualifier      IDs
    """

    arch: Arch = Arch.SM_100

    def __post_init__(self) -> None:
        _check_kinds(self.arch)

    @property
    def rows(self) -> list[ScaleRow]:
        """One row per kind."""
        return scales(self.arch)

    @property
    def block(self) -> ScaleBlock:
        """The block of scale factors in shared memory."""
        return scale_block()


def _check_kinds(arch: Arch) -> None:
    if not arch.kinds:
        archs_with_kinds = " and ".join(str(candidate) for candidate in Arch if candidate.kinds)
        raise LayoutError(f"{arch} has no kinds of instructions; {archs_with_kinds} have")
