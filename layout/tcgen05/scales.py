"""Scale factors of block-scaled kinds: where they lie in shared memory, and then in tensor memory.

A block holds 4 factors along K of 128 rows (of A along m, of B along n) in 512 bytes: 32 lines of 16
bytes, in which the factors of rows 32 apart follow each other (PTX ISA 9.7.16.10.7). That is what
cuBLAS and CUTLASS have in global memory, too, block after block along K and then along the rows:
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
from ..path import Step, follow
from ..proposals import Proposal
from ..swizzle import Swizzle
from ..tile import TileLayout
from ..uses import Evaluation, refusing
from .descriptor import Tcgen05Descriptor
from .kinds import Kind
from .shapes import Shape

#: Rows and factors of a block; `tcgen05.cp` copies one to tensor memory (`.32x128b.warpx4`).
BLOCK_ROWS, BLOCK_FACTORS = 128, 4
BLOCK_BYTES = BLOCK_ROWS * BLOCK_FACTORS

#: Lanes that a block fills, of each 32 that a warp reaches: all of them hold the same.
LANES = 32

#: Columns of tensor memory that a block takes.
BLOCK_COLUMNS = BLOCK_ROWS // LANES

#: Element types of tiles of factors, by the ISA's names of the factors.
SCALE_ELEMENTS = {"ue4m3": E4M3, "ue8m0": UE8M0}

#: The bytes of a word at which the factors of an instruction can begin, by how many it reads of each
#: row: 1, 2 and 4 are `.scale_vec::1X`, `2X` and `4X` (PTX ISA, tables 43 and 44), 3 and 6 those of
#: K = 96. Of 3 the ISA's table allows 0 and 2 alone, where its text and CUTLASS have all four.
SCALE_IDS = {1: (0, 1, 2, 3), 2: (0, 2), 3: (0, 1, 2, 3), 4: (0,), 6: (0, 2)}


@dataclass(frozen=True)
class ScaleBlocks:
    """Where the blocks of a tile of scale factors, (rows, factors), lie.

    Attributes:
        lines: the tile as lines of 16 bytes, (lines, 16): 32 of each block, blocks in the order that they
            have in global memory.
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
        """Columns of tensor memory that a word of each row takes: 4 factors of all rows."""
        return len(self.offsets) * BLOCK_COLUMNS

    @property
    def columns(self) -> int:
        """Columns of tensor memory that all factors take."""
        return self.word_columns * len(self.offsets[0])

    def column(self, block: int, word: int) -> int:
        """The first of the columns to which the block of that row block and word is copied."""
        return word * self.word_columns + block * BLOCK_COLUMNS

    def place(self, row: int, factor: int) -> tuple[int, int, int]:
        """(lane, column, byte) of a row's factor in tensor memory. Lanes 32, 64 and 96 further hold the
        same."""
        block, within = divmod(row, BLOCK_ROWS)
        word, byte = divmod(factor, BLOCK_FACTORS)
        return within % LANES, self.column(block, word) + within // LANES, byte

    @property
    def operand(self) -> MmaTiles:
        """The blocks as an operand, which `tcgen05.cp` reads through a shared memory descriptor.

        A copy of 16 bytes of 32 lines steps through 8 of them at a time and reaches no second unit of
        K: SBO is 128, and LBO has no effect; we encode 0, and the version as TileLang does (JAX leaves
        the version 0 as well).
        """
        lines = Canonical(FORMS[Major.K, Swizzle.NONE], None, 8 * UNIT_BYTES)
        pieces = (BLOCK_ROWS,) * len(self.offsets)
        return MmaTiles(lines, pieces, self.offsets, Tcgen05Descriptor)

    def descriptor(self, block: int, word: int, start: int = 0) -> Tcgen05Descriptor:
        """The shared memory descriptor by which `tcgen05.cp` reads a block of a tile at byte address
        `start`.

        Raises:
            ValueError: if `start` is no multiple of 16.
        """
        begin = start + self.offsets[block][word]
        return Tcgen05Descriptor(begin, 0, self.operand.canonical.sbo or 0, swizzle=Swizzle.NONE)


def scale_layout(
    element: Element, rows: int, factors: int, stages: int | None = None
) -> TileLayout:
    """The layout of a tile of scale factors, (rows, factors) or (stages, rows, factors): blocks along K
    follow each other, then those of further rows.

    Args:
        element: ue8m0, or e4m3 for factors of ue4m3.
        rows: rows of A, or columns of B rounded up to 128.
        factors: of each row.
        stages: of the tile, if it has any.

    Raises:
        LayoutError: if factors are not of that type, or the tile is not made of blocks.
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
    """The blocks of a tile of scale factors, (rows, factors), or of a part of one; or why it has none.

    Blocks may lie anywhere; each is one that `tcgen05.cp` copies.
    """
    if len(tile.shape) != 2:
        return Mismatch(f"scale factors have rank 2, but the tile has rank {len(tile.shape)}")
    problem = _shape_problem(tile.element, *tile.shape)
    if problem:
        return Mismatch(problem)
    if tile.origin:
        return Mismatch(
            f"the part cuts blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors: it begins at "
            f"{format_origin(tile.origin)} in them"
        )
    rows, factors = tile.coalesced().modes
    block = scale_layout(tile.element, BLOCK_ROWS, BLOCK_FACTORS)
    held = rows[:2], factors[:1]
    if held != block.modes or tile.swizzle is not block.swizzle:
        return Mismatch(f"the factors lie as {tile}; tcgen05.cp copies blocks of {block}")
    offsets = tile.linear_at(
        *np.ogrid[: tile.shape[0] : BLOCK_ROWS, : tile.shape[1] : BLOCK_FACTORS]
    )
    between = np.flatnonzero(offsets % UNIT_BYTES)
    if between.size:
        return Mismatch(
            f"a block begins {offsets.ravel()[between[0]]} bytes into the tile; a descriptor counts "
            f"multiples of {UNIT_BYTES}"
        )
    modes = ((rows[0], *factors[1:], *rows[2:]), (Mode(UNIT_BYTES, 1),))
    lines = TileLayout(tile.element, (offsets.size * LANES, UNIT_BYTES), modes)
    return ScaleBlocks(lines.coalesced(), tuple(tuple(map(int, row)) for row in offsets))


def _shape_problem(element: Element, rows: int, factors: int) -> str | None:
    """Why a tile of that type and shape is not made of blocks; None if it can be."""
    if element not in SCALE_ELEMENTS.values():
        return f"no instruction scales by {element}; expected a tile of " + " or of ".join(
            f"{e} (factors of {name})" for name, e in SCALE_ELEMENTS.items()
        )
    if rows < 1 or rows % BLOCK_ROWS:
        near = max(1, -(-rows // BLOCK_ROWS)) * BLOCK_ROWS
        return (
            f"factors of {rows} rows, no multiple of {BLOCK_ROWS}; expected {near} (those of B have N "
            f"rows, rounded up to {BLOCK_ROWS})"
        )
    if factors < 1 or factors % BLOCK_FACTORS:
        near = max(1, -(-factors // BLOCK_FACTORS)) * BLOCK_FACTORS
        return (
            f"{factors} factors a row, no multiple of {BLOCK_FACTORS}; expected {near}, some of them "
            "unused"
        )
    return None


def scale_factors(kind: Kind, shape: Shape, block: int) -> int:
    """How many factors of each row an instruction reads.

    Args:
        kind: its kind.
        shape: its shape, which says K.
        block: elements along K that share a factor.

    Raises:
        LayoutError: if the kind scales no such blocks.
    """
    sizes = sorted({size for _, size in kind.scales})
    if block not in sizes:
        expected = " or ".join(map(str, sizes)) if sizes else "none"
        raise LayoutError(
            f"kind::{kind} has no factors of {block} elements along K; expected {expected}"
        )
    return shape.k(next(iter(kind.codes))) // block


def scale_step(step: int, factors: int) -> tuple[int, int]:
    """(word, id) of the factors that the instruction at K step `step` begins with: the columns of that
    word are its address, and the id is a field of its descriptor.

    Where K is 96, the factors may run into the next word.

    Args:
        step: the instruction's number along K, from the first of a tile's factors.
        factors: how many an instruction reads of each row.

    Raises:
        LayoutError: if no instruction reads so many, or the step is negative.
    """
    if factors not in SCALE_IDS:
        raise LayoutError(
            f"no instruction reads {factors} factors of a row; expected {', '.join(map(str, SCALE_IDS))}"
        )
    if step < 0:
        raise LayoutError(f"a K step of {step}; expected 0 or more")
    word, id_ = divmod(step * factors, BLOCK_FACTORS)
    assert id_ in SCALE_IDS[factors]
    return word, id_


def check_scale_id(id_: int, factors: int) -> None:
    """Checks that the factors of an instruction can begin at that byte of a word.

    Raises:
        LayoutError: if they cannot, with those at which they can.
    """
    scale_step(0, factors)
    if id_ not in SCALE_IDS[factors]:
        known = " or ".join(map(str, SCALE_IDS[factors]))
        raise LayoutError(
            f"the scale factor id is {id_}, but an instruction that reads {factors} of each row has "
            f"{known}"
        )


def blocked(array: np.ndarray) -> np.ndarray:
    """Scale factors in the order in which blocks hold them, as cuBLAS, CUTLASS and torchao have them.

    Args:
        array: bytes, or 8-bit floats, of shape (rows, factors), of any extents.

    Returns:
        The same type, of shape (rows / 128, factors / 4, 32, 4, 4), rounded up and padded with zero
        bytes.

    Raises:
        ValueError: if the array has another rank, or no elements of one byte.
    """
    if array.ndim != 2 or array.itemsize != 1:
        raise ValueError(
            f"scale factors of shape {array.shape} and {array.itemsize * 8} bits; expected (rows, "
            "factors) of 8 bits"
        )
    above, along = (
        -(-n // of) for n, of in zip(array.shape, (BLOCK_ROWS, BLOCK_FACTORS), strict=True)
    )
    padded = np.zeros((above * BLOCK_ROWS, along * BLOCK_FACTORS), np.uint8)
    padded[: array.shape[0], : array.shape[1]] = array.view(np.uint8)
    split = padded.reshape(above, BLOCK_COLUMNS, LANES, along, BLOCK_FACTORS)
    return np.ascontiguousarray(split.transpose(0, 3, 2, 1, 4)).view(array.dtype)


def unblocked(array: np.ndarray, rows: int, factors: int) -> np.ndarray:
    """What `blocked` was given: (rows, factors), without the padding.

    Raises:
        ValueError: if the array does not hold that many rows and factors in blocks.
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
    """A tile of scale factors, or a part of it, that has to consist of blocks.

    Attributes:
        what: the use in words.
        path: the steps to the part.
    """

    what: str
    path: tuple[Step, ...] = ()

    @refusing
    def evaluate(self, layout: TileLayout) -> Evaluation:
        """Whether the tile, having that layout, can be used so."""
        found = scale_blocks(follow(layout, self.path).layout)
        if isinstance(found, Mismatch):
            return Evaluation(False, found.reason)
        count = len(found.offsets) * len(found.offsets[0])
        many = f"{count} blocks" if count > 1 else "a block"
        return Evaluation(True, f"{many} of {BLOCK_ROWS}x{BLOCK_FACTORS} factors")

    def propose(self, element: Element, shape: Sequence[int]) -> Proposal | None:
        """The layout that scale factors have, which no swizzle's atoms make; None if a tile of that shape
        has none."""
        *stages, rows, factors = shape
        if _shape_problem(element, rows, factors):
            return None
        name = f"blocks of {BLOCK_ROWS}x{BLOCK_FACTORS} factors"
        return Proposal(name, scale_layout(element, rows, factors, *stages))
