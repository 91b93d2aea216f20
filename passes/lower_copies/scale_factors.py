"""A copy of blocks of scale factors: each is 32 lines of 16 bytes on both sides."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...dialect.bindings import ir
from ...ir import emit
from ...ir.i32 import I32
from ...ir.shared_memory import gep, memref_pointer, stride_value
from ...ir.subtiles import Subtile
from ...ir.tile_address import TileAddress
from ...layout import Mismatch, Transfer
from ...layout.elements import UNIT_BYTES
from ...layout.tcgen05 import ScaleBlocks, scale_blocks
from ...layout.tcgen05.scales import BLOCK_BYTES, BLOCK_FACTORS, BLOCK_ROWS, LANES
from .ends import TileEnd
from .vectors import Vectors


def blocks_of(subtile: Subtile) -> ScaleBlocks:
    """The blocks of a tile that ops have been checked to fill by blocks."""
    found = scale_blocks(subtile.slice.layout)
    assert not isinstance(found, Mismatch)
    return found


def lower_blocks(copy: Any, subtile: Subtile, thread: Any, threads: int) -> None:
    """Emits a copy, 16 bytes of each thread at a time."""
    found = blocks_of(subtile)
    lines = found.lines
    transfer = Transfer(lines.element, lines.shape, 1, threads)
    target = TileEnd(replace(subtile, slice=replace(subtile.slice, layout=lines)))
    source = BlockSource(copy.source, LANES * len(found.offsets[0]))
    Vectors(copy, source, target, transfer, thread).emit()


def load_blocks(op: Any, subtile: Subtile, full: Any, hints: tuple[Any, ...]) -> None:
    """Emits the bulk copies of an `smem.tma_load`: one of each row of blocks where these lie next to each
    other on both sides, else one of each block.

    Args:
        op: the load.
        part: the tile.
        full: the mbarrier at which the bytes complete.
        hints: the cache policy, if there is one.
    """
    offsets, source = blocks_of(subtile).offsets, BlockSource(op.source, LANES)
    along = range(0, BLOCK_BYTES * len(offsets[0]), BLOCK_BYTES)
    dense = all(each - row[0] == at for row in offsets for each, at in zip(row, along, strict=True))
    count = len(along) if dense and source.is_dense else 1
    start = TileAddress(subtile).at_swizzled(I32(0))
    first = source.block(op.coordinates)
    size = emit.constant(BLOCK_BYTES * count, emit.i32())
    segments = ir.DenseI32ArrayAttr.get([1, 1, 1, 1, 0, len(hints)])
    for row, places in enumerate(offsets):
        for column in range(0, len(places), count):
            target = emit.value(
                "llvm.addrspacecast", (gep(start, places[column]),), emit.pointer(7)
            )
            emit.op(
                "nvvm.cp.async.bulk.shared.cluster.global",
                (target, source.beyond(first, row, column), full, size, *hints),
                operandSegmentSizes=segments,
            )


class BlockSource:
    """Blocks in global memory, in lines of 16 bytes; steps are rows of blocks."""

    def __init__(self, memref: Any, row: int) -> None:
        """
        Args:
            memref: of [rows / 128][factors / 4][32][4][4] bytes.
            row: lines of a row of blocks.
        """
        self._base = memref_pointer(memref, 1)
        self._pitches = [stride_value(memref, dim, emit.i64()) for dim in (0, 1)]
        self._row = row

    def pointer(self, line: Any, along: Any) -> Any:
        """A pointer to a line; there is nothing along it."""
        index = I32(line)
        places = (index // self._row, index % self._row // LANES)
        offset = emit.value("arith.extui", ((index % LANES * UNIT_BYTES).value,), emit.i64())
        for place, pitch in zip(places, self._pitches, strict=True):
            wide = emit.value("arith.extui", (place.value,), emit.i64())
            offset = emit.binary("addi", offset, emit.binary("muli", wide, pitch))
        return gep(self._base, offset)

    @property
    def is_dense(self) -> bool:
        """Whether the blocks of a row are known to follow each other."""
        return self._pitches[1] == BLOCK_BYTES

    def block(self, coordinates: Sequence[Any]) -> Any:
        """A pointer to the block that begins at a row and a factor (index values)."""
        pointer = self._base
        extents = (BLOCK_ROWS, BLOCK_FACTORS)
        for value, of, pitch in zip(coordinates, extents, self._pitches, strict=True):
            number = emit.binary("divui", emit.cast_index(value, emit.i64()), of)
            pointer = gep(pointer, emit.binary("muli", number, pitch))
        return pointer

    def beyond(self, pointer: Any, rows: int, columns: int) -> Any:
        """A pointer advanced by rows and columns of blocks."""
        for count, pitch in zip((rows, columns), self._pitches, strict=True):
            if isinstance(pitch, int):
                pointer = gep(pointer, count * pitch)
            elif count:
                pointer = gep(pointer, emit.binary("muli", pitch, count))
        return pointer

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        """Rows of blocks from round `anchor` to round `round_`; None if they are not whole ones."""
        rows, rest = divmod((round_ - anchor) * transfer.threads, self._row)
        return None if rest else rows

    def further(self, pointer: Any, step: int) -> Any:
        """A pointer advanced by rows of blocks."""
        return self.beyond(pointer, step, 0)
