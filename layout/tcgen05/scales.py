"""Scale factors of block-scaled kinds: their layouts in shared memory and in tensor memory.

A block holds 4 factors along K of 128 rows (of A along m, of B along n) in 512 bytes: 32 lines of 16
bytes, each with the factors of 4 rows that are 32 apart (PTX ISA 9.7.16.10.7). cuBLAS and CUTLASS have
the same blocks in global memory, block after block along K and then along the rows:
[rows / 128][factors / 4][32][4][4].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..canonical import FORMS, Canonical, Major, Mismatch
from ..elements import E4M3, UE8M0, UNIT_BYTES, Element
from ..modes import LayoutError, Mode, format_origin
from ..operand import MmaTiles
from ..path import PathElement, follow
from ..proposals import Proposal
from ..swizzle import Swizzle
from ..tile import TileLayout
from ..uses import LayoutEvaluation, refusing
from .descriptor import Tcgen05Descriptor
from .kinds import Kind
from .shapes import MmaShape

#: Rows and factors of a block, which one `tcgen05.cp` (`.32x128b.warpx4`) copies to tensor memory.
BLOCK_ROWS, BLOCK_FACTORS = 128, 4
BLOCK_BYTES = BLOCK_ROWS * BLOCK_FACTORS

#: Lanes of a block in tensor memory; the 32 lanes of each warp hold the same copy.
LANES = 32

#: Columns of tensor memory that a block takes.
BLOCK_COLUMNS = BLOCK_ROWS // LANES

#: Element types of tiles of factors, by the ISA's names of the factors.
SCALE_ELEMENTS = {"ue4m3": E4M3, "ue8m0": UE8M0}

#: The bytes of a word at which the factors of an instruction can begin, by the factors that it reads of
#: each row: 1, 2 and 4 are `.scale_vec::1X`, `2X` and `4X` (PTX ISA, tables 43 and 44), 3 and 6 those of
#: K = 96. For 3, the ISA's table allows only 0 and 2; its text and CUTLASS allow all four.
SCALE_IDS = {1: (0, 1, 2, 3), 2: (0, 2), 3: (0, 1, 2, 3), 4: (0,), 6: (0, 2)}


@dataclass(frozen=True)
class ScaleBlocks:
    """The blocks of a tile of scale factors, (rows, factors).

    Attributes:
        lines: the tile as lines of 16 bytes, (lines, 16): 32 lines of each block, with the blocks in the
            order of global memory.
        offsets: bytes from the tile's start to each block, indexed [rows / 128][factors / 4].
    """

    lines: TileLayout
    offsets: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> int:
        """Rows that the blocks hold."""
        return len(self.offsets) * BLOCK_ROWS

    @property
    def factors(self) -> int:
        """Factors of each row."""
        return len(self.offsets[0]) * BLOCK_FACTORS

    @property
    def word_columns(self) -> int:
        """Columns of tensor memory of one word of each row: 4 factors of all rows."""
        return len(self.offsets) * BLOCK_COLUMNS

    @property
    def columns(self) -> int:
        """Columns of tensor memory of all factors."""
        return self.word_columns * len(self.offsets[0])

    def column(self, block: int, word: int) -> int:
        """Return the first column of the copy of a block in tensor memory.

        Args:
            block: the block's index along the rows.
            word: its index along the factors.
        """
        return word * self.word_columns + block * BLOCK_COLUMNS

    def place(self, row: int, factor: int) -> tuple[int, int, int]:
        """Return (lane, column, byte) of a row's factor in tensor memory; the lanes 32, 64 and 96 after
        it hold the same."""
        block, within = divmod(row, BLOCK_ROWS)
        word, byte = divmod(factor, BLOCK_FACTORS)
        return within % LANES, self.column(block, word) + within // LANES, byte

    @property
    def operand(self) -> MmaTiles:
        """The blocks as an operand, which `tcgen05.cp` reads through a shared memory descriptor.

        A copy reads 16 bytes of 32 lines: SBO is the stride of 8 lines, 128 bytes, and LBO has no effect
        since there is no second unit along K. LBO is encoded as 0, and the version as in TileLang (in JAX
        the version is 0 as well).
        """
        lines = Canonical(FORMS[Major.K, Swizzle.NONE], None, 8 * UNIT_BYTES)
        pieces = (BLOCK_ROWS,) * len(self.offsets)
        return MmaTiles(lines, pieces, self.offsets, Tcgen05Descriptor)

    def descriptor(self, block: int, word: int, start: int = 0) -> Tcgen05Descriptor:
        """Return the shared memory descriptor by which `tcgen05.cp` reads a block of a tile.

        Args:
            block: the block's index along the rows.
            word: its index along the factors.
            start: the byte address of the tile.

        Raises:
            ValueError: if `start` is not a multiple of 16.
        """
        begin = start + self.offsets[block][word]
        return Tcgen05Descriptor(begin, 0, self.operand.canonical.sbo or 0, swizzle=Swizzle.NONE)


def scale_layout(
    element: Element, rows: int, factors: int, stages: int | None = None
) -> TileLayout:
    """Return the layout of a tile of scale factors, (rows, factors) or (stages, rows, factors): block
    after block along K, then along the rows.

    Args:
        element: ue8m0, or e4m3 for factors of ue4m3.
        rows: rows of A, or columns of B rounded up to 128.
        factors: factors of each row.
        stages: pipeline stages; None for a tile of rank 2.

    Raises:
        LayoutError: if scale factors do not have that type, or the tile does not consist of blocks.
    """
    if problem := _shape_problem(element, rows, factors):
        raise LayoutError(problem)
    along = factors // BLOCK_FACTORS
    pitch = BLOCK_BYTES * along
    modes = (
        (
            Mode(LANES, UNIT_BYTES),
            Mode(BLOCK_COLUMNS, BLOCK_FACTORS),
            Mode(rows // BLOCK_ROWS, pitch),
        ),
        (Mode(BLOCK_FACTORS, 1), Mode(along, BLOCK_BYTES)),
    )
    if stages is None:
        return TileLayout(element, (rows, factors), modes).coalesced()
    outer = (Mode(stages, rows * factors),)
    return TileLayout(element, (stages, rows, factors), (outer, *modes)).coalesced()


@lru_cache(maxsize=4096)
def scale_blocks(tile: TileLayout) -> ScaleBlocks | Mismatch:
    """Return the blocks of a tile, or subtile, of scale factors, (rows, factors), or why it has none.

    The blocks may be at any offsets; `tcgen05.cp` copies each of them.
    """
    if len(tile.shape) != 2:
        return Mismatch(f"scale factors have rank 2, but the tile has rank {len(tile.shape)}")
    problem = _shape_problem(tile.element, *tile.shape)
    if problem:
        return Mismatch(problem)
    if tile.origin:
        return Mismatch(
            f"the subtile cuts blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors: it begins at "
            f"{format_origin(tile.origin)} in them"
        )
    rows, factors = tile.coalesced().modes
    block = scale_layout(tile.element, BLOCK_ROWS, BLOCK_FACTORS)
    innermost = rows[:2], factors[:1]
    if innermost != block.modes or tile.swizzle is not block.swizzle:
        return Mismatch(f"the factors are stored as {tile}; tcgen05.cp copies blocks of {block}")
    offsets = tile.linear_at(
        *np.ogrid[: tile.shape[0] : BLOCK_ROWS, : tile.shape[1] : BLOCK_FACTORS]
    )
    misaligned = np.flatnonzero(offsets % UNIT_BYTES)
    if misaligned.size:
        return Mismatch(
            f"a block begins {offsets.ravel()[misaligned[0]]} bytes into the tile; a descriptor counts "
            f"multiples of {UNIT_BYTES}"
        )
    modes = ((rows[0], *factors[1:], *rows[2:]), (Mode(UNIT_BYTES, 1),))
    lines = TileLayout(tile.element, (offsets.size * LANES, UNIT_BYTES), modes)
    return ScaleBlocks(lines.coalesced(), tuple(tuple(map(int, row)) for row in offsets))


def _shape_problem(element: Element, rows: int, factors: int) -> str | None:
    """Return why a tile of that type and shape does not consist of blocks, or None."""
    if element not in SCALE_ELEMENTS.values():
        return f"no instruction scales by {element}; expected a tile of " + " or of ".join(
            f"{e} (factors of {name})" for name, e in SCALE_ELEMENTS.items()
        )
    if rows < 1 or rows % BLOCK_ROWS:
        enough = max(1, -(-rows // BLOCK_ROWS)) * BLOCK_ROWS
        return (
            f"factors of {rows} rows, no multiple of {BLOCK_ROWS}; expected {enough} (those of B have N "
            f"rows, rounded up to {BLOCK_ROWS})"
        )
    if factors < 1 or factors % BLOCK_FACTORS:
        enough = max(1, -(-factors // BLOCK_FACTORS)) * BLOCK_FACTORS
        return (
            f"{factors} factors a row, no multiple of {BLOCK_FACTORS}; expected {enough}, some of them "
            "unused"
        )
    return None


def scale_factors(kind: Kind, shape: MmaShape, block: int) -> int:
    """Return the number of factors of each row that an instruction reads.

    Args:
        kind: its kind.
        shape: its shape, which gives K.
        block: elements along K that share a factor.

    Raises:
        LayoutError: if the kind has no factors of that number of elements.
    """
    sizes = sorted({size for _, size in kind.scales})
    if block not in sizes:
        expected = " or ".join(map(str, sizes)) if sizes else "none"
        raise LayoutError(
            f"kind::{kind} has no factors of {block} elements along K; expected {expected}"
        )
    return shape.k(next(iter(kind.codes))) // block


def scale_step(step: int, factors: int) -> tuple[int, int]:
    """Return (word, id) of the first factor of the instruction of a K block: the columns of the word are
    its address in tensor memory, and the id is a field of the instruction descriptor.

    If K is 96, the factors may continue in the next word.

    Args:
        step: the K block, counted from the first of a tile's factors.
        factors: the factors that an instruction reads of each row.

    Raises:
        LayoutError: if no instruction reads that number of factors, or the K block is negative.
    """
    if factors not in SCALE_IDS:
        raise LayoutError(
            f"no instruction reads {factors} factors of a row; expected {', '.join(map(str, SCALE_IDS))}"
        )
    if step < 0:
        raise LayoutError(f"a K step of {step}; expected 0 or more")
    word, id_ = divmod(step * factors, BLOCK_FACTORS)
    return word, id_


def check_scale_id(id_: int, factors: int) -> None:
    """Check that the factors of an instruction can begin at that byte of a word.

    Raises:
        LayoutError: if they cannot; the message lists the bytes at which they can.
    """
    scale_step(0, factors)
    if id_ not in SCALE_IDS[factors]:
        legal_ids = " or ".join(map(str, SCALE_IDS[factors]))
        raise LayoutError(
            f"the scale factor id is {id_}, but an instruction that reads {factors} of each row has "
            f"{legal_ids}"
        )


def blocked(array: np.ndarray) -> np.ndarray:
    """Return scale factors in the order of the blocks, as in cuBLAS, CUTLASS and torchao.

    Args:
        array: bytes, or 8-bit floats, of shape (rows, factors), of any extents.

    Returns:
        An array of the same type, of shape (rows / 128, factors / 4, 32, 4, 4), rounded up and padded
        with zero bytes.

    Raises:
        ValueError: if the array has another rank, or its elements are not of one byte.
    """
    if array.ndim != 2 or array.itemsize != 1:
        raise ValueError(
            f"scale factors of shape {array.shape} and {array.itemsize * 8} bits; expected (rows, "
            "factors) of 8 bits"
        )
    block_rows, block_columns = (
        -(-array.shape[0] // BLOCK_ROWS),
        -(-array.shape[1] // BLOCK_FACTORS),
    )
    padded = np.zeros((block_rows * BLOCK_ROWS, block_columns * BLOCK_FACTORS), np.uint8)
    padded[: array.shape[0], : array.shape[1]] = array.view(np.uint8)
    split = padded.reshape(block_rows, BLOCK_COLUMNS, LANES, block_columns, BLOCK_FACTORS)
    return np.ascontiguousarray(split.transpose(0, 3, 2, 1, 4)).view(array.dtype)


def unblocked(array: np.ndarray, rows: int, factors: int) -> np.ndarray:
    """Return the argument of `blocked` from its result: (rows, factors), without the padding.

    Raises:
        ValueError: if the array does not have the shape of the blocks of that many rows and factors.
    """
    above, along = -(-rows // BLOCK_ROWS), -(-factors // BLOCK_FACTORS)
    expected = (above, along, LANES, BLOCK_COLUMNS, BLOCK_FACTORS)
    if array.shape != expected:
        raise ValueError(
            f"blocks of scale factors of shape {array.shape}; {rows}x{factors} factors have {expected}"
        )
    split = array.transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(
        split.reshape(above * BLOCK_ROWS, along * BLOCK_FACTORS)[:rows, :factors]
    )


@dataclass(frozen=True)
class ScaleUse:
    """A tile of scale factors, or a subtile of it, that has to consist of blocks.

    Attributes:
        what: the use in words.
        path: the path to the subtile.
    """

    what: str
    path: tuple[PathElement, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> LayoutEvaluation:
        """Evaluate a layout of the tile."""
        blocks = scale_blocks(follow(layout, self.path).layout)
        if isinstance(blocks, Mismatch):
            return LayoutEvaluation(False, blocks.reason)
        count = len(blocks.offsets) * len(blocks.offsets[0])
        count_text = f"{count} blocks" if count > 1 else "a block"
        return LayoutEvaluation(True, f"{count_text} of {BLOCK_ROWS}x{BLOCK_FACTORS} factors")

    def propose(self, element: Element, shape: Sequence[int]) -> Proposal | None:
        """Return the layout of scale factors, which is not one of swizzle atoms, or None if a tile of
        that shape has none."""
        *stages, rows, factors = shape
        if _shape_problem(element, rows, factors):
            return None
        name = f"blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors"
        return Proposal(name, scale_layout(element, rows, factors, *stages))
