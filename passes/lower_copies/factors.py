"""A copy of blocks of scale factors: each is 32 lines of 16 bytes on both sides."""

from dataclasses import replace
from typing import Any

from ...layout import Mismatch, Transfer
from ...layout.elements import UNIT_BYTES
from ...layout.tcgen05 import ScaleBlocks, scale_blocks
from ...layout.tcgen05.scales import LANES
from .. import emit
from ..i32 import I32
from ..parts import Part
from ..shared_memory import gep, memref_pointer, stride_value
from .ends import TileEnd
from .vectors import Vectors


def blocks_of(part: Part) -> ScaleBlocks:
    """The blocks of a tile that ops have been checked to fill by blocks."""
    found = scale_blocks(part.slice.layout)
    assert not isinstance(found, Mismatch)
    return found


def lower_blocks(copy: Any, part: Part, thread: Any, threads: int) -> None:
    """Emits a copy, 16 bytes of each thread at a time."""
    found = blocks_of(part)
    lines = found.lines
    transfer = Transfer(lines.element, lines.shape, 1, threads)
    target = TileEnd(replace(part, slice=replace(part.slice, layout=lines)))
    source = BlockSource(copy.operands[0], LANES * len(found.offsets[0]))
    Vectors(copy, source, target, transfer, thread).emit()


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

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        """Rows of blocks from round `anchor` to round `round_`; None if they are not whole ones."""
        rows, rest = divmod((round_ - anchor) * transfer.threads, self._row)
        return None if rest else rows

    def further(self, pointer: Any, step: int) -> Any:
        """A pointer advanced by rows of blocks."""
        if step == 0:
            return pointer
        pitch = self._pitches[0]
        return gep(
            pointer, step * pitch if isinstance(pitch, int) else emit.binary("muli", pitch, step)
        )
