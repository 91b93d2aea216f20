"""Copies of blocks of scale factors: a block is 32 lines of 16 bytes in global and in shared memory."""

from collections.abc import Sequence

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...ir.i32 import I32
from ...ir.shared_memory import gep, memref_pointer, stride_value
from ...ir.subtiles import Subtile
from ...ir.tile_address import TileAddress
from ...layout import Mismatch, Transfer
from ...layout.elements import UNIT_BYTES
from ...layout.tcgen05 import ScaleBlocks, scale_blocks
from ...layout.tcgen05.scales import BLOCK_BYTES, BLOCK_FACTORS, BLOCK_ROWS, LANES


def scale_blocks_of(subtile: Subtile) -> ScaleBlocks:
    """Return the blocks of a tile. The verifiers of its ops check that they fill whole blocks."""
    blocks = scale_blocks(subtile.slice.layout)
    assert not isinstance(blocks, Mismatch)
    return blocks


def load_scale_blocks(op: Op, subtile: Subtile, full: Value, hints: tuple[Value, ...]) -> None:
    """Emit the bulk copies of an `smem.tma_load`.

    A row of blocks is one copy where the blocks are adjacent in global and in shared memory; otherwise
    each block is one copy.

    Args:
        op: the load.
        subtile: the tile.
        full: the pointer to the mbarrier that counts the bytes.
        hints: the cache policy (i64), if there is one.
    """
    offsets, source = scale_blocks_of(subtile).offsets, ScaleBlockSource(op.source, LANES)
    along = range(0, BLOCK_BYTES * len(offsets[0]), BLOCK_BYTES)
    are_adjacent = all(
        offset - row[0] == distance
        for row in offsets
        for offset, distance in zip(row, along, strict=True)
    )
    count = len(along) if are_adjacent and source.is_dense else 1
    start = TileAddress(subtile).swizzled_pointer()
    first = source.block(op.coordinates)
    size = emit.constant(BLOCK_BYTES * count, emit.i32())
    segments = ir.DenseI32ArrayAttr.get([1, 1, 1, 1, 0, len(hints)])
    for row, row_offsets in enumerate(offsets):
        for column in range(0, len(row_offsets), count):
            target = emit.value(
                "llvm.addrspacecast", (gep(start, row_offsets[column]),), emit.pointer(7)
            )
            emit.op(
                "nvvm.cp.async.bulk.shared.cluster.global",
                (target, source.advance_blocks(first, row, column), full, size, *hints),
                operandSegmentSizes=segments,
            )


class ScaleBlockSource:
    """Blocks in global memory, in lines of 16 bytes; distances are in rows of blocks."""

    bounds = None

    def __init__(self, memref: Value, row: int) -> None:
        """
        Args:
            memref: [rows / 128][factors / 4][32][4][4] bytes.
            row: the number of lines of a row of blocks.
        """
        self._base = memref_pointer(memref, 1)
        self._pitches = [stride_value(memref, dim, emit.i64()) for dim in (0, 1)]
        self._row = row

    def pointer(self, line: Value, along: Value) -> Value:
        """Return a pointer to a line, which is one vector; `along` is not used."""
        index = I32(line)
        block_index = (index // self._row, index % self._row // LANES)
        offset = emit.value("arith.extui", ((index % LANES * UNIT_BYTES).value,), emit.i64())
        for number, pitch in zip(block_index, self._pitches, strict=True):
            wide = emit.value("arith.extui", (number.value,), emit.i64())
            offset = emit.binary("addi", offset, emit.binary("muli", wide, pitch))
        return gep(self._base, offset)

    @property
    def is_dense(self) -> bool:
        """Whether the blocks of a row are known to be adjacent."""
        return self._pitches[1] == BLOCK_BYTES

    def block(self, coordinates: Sequence[Value]) -> Value:
        """Return a pointer to the block that begins at a row and a factor (index values)."""
        pointer = self._base
        extents = (BLOCK_ROWS, BLOCK_FACTORS)
        for value, extent, pitch in zip(coordinates, extents, self._pitches, strict=True):
            number = emit.binary("divui", emit.cast_index(value, emit.i64()), extent)
            pointer = gep(pointer, emit.binary("muli", number, pitch))
        return pointer

    def advance_blocks(self, pointer: Value, rows: int, columns: int) -> Value:
        """Return a pointer advanced by rows and columns of blocks."""
        for count, pitch in zip((rows, columns), self._pitches, strict=True):
            if isinstance(pitch, int):
                pointer = gep(pointer, count * pitch)
            elif count:
                pointer = gep(pointer, emit.binary("muli", pitch, count))
        return pointer

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        """Return the rows of blocks between rounds `anchor` and `round_`; None if not a whole number."""
        rows, remainder = divmod((round_ - anchor) * transfer.threads, self._row)
        return None if remainder else rows

    def advance(self, pointer: Value, step: int) -> Value:
        """Return a pointer advanced by rows of blocks."""
        return self.advance_blocks(pointer, step, 0)
