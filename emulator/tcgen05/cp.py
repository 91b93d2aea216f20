"""One `tcgen05.cp` of a thread: bytes of shared memory by a descriptor, to cells of tensor memory."""

from __future__ import annotations

import numpy as np

from ..block import ThreadBlock
from ..convergent import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..lanes import WARP
from ..tensor_core.operands import matrix_bytes
from ..tensor_core.reads import bytes_read
from .descriptors import UnknownInstruction, matrix
from .order import of_cluster
from .pairs import blocks_of
from .tensor_memory import LANES, Cells, of_block, split, wrong

#: Bytes that each row of shape 32x128b has.
_ROW_BYTES = 16


def execute(
    convergent: ConvergentThreads, row: int, address: int, descriptor: int, group: int
) -> None:
    """Copies 32 rows of 16 bytes to the lanes of each quarter of tensor memory (shape 32x128b with
    warpx4); the cells are in flight. Of a pair, each block copies from its shared to its tensor memory.

    Args:
        convergent: the threads.
        row: which of them issues it.
        address: of the first cell.
        descriptor: of the rows: without swizzle, so that 8 of them lie densely, and SBO after that the
            next 8.
        group: how many blocks copy.

    Raises:
        Stop: if the descriptor is none, or leads out of shared memory, or the cells are not there, which
            is reported.
        UnknownInstruction: if the rows are swizzled.
    """
    try:
        found = matrix(descriptor, False, 1)
    except ValueError as error:
        message = f"has a descriptor that is none: {error}"
        convergent.block.report_at(convergent, ViolationKind.DESCRIPTOR, message)
        raise Stop from None
    if found.width > _ROW_BYTES:
        raise UnknownInstruction("copies rows that are swizzled")
    source = matrix_bytes(found, 8, False, WARP, _ROW_BYTES)
    at = bytes_read(convergent, "rows", source, 1)
    lane, column = split(address)
    if lane:
        wrong(convergent, f"copies to lane {lane} of tensor memory; expected 0 for shape 32x128b")
    cells = Cells(*np.ix_(np.arange(LANES), column + np.arange(_ROW_BYTES // 4)))
    for block in blocks_of(convergent, group):
        _copy(convergent, block, int(convergent.threads[row]), source, at, cells)


def _copy(
    convergent: ConvergentThreads,
    block: ThreadBlock,
    thread: int,
    source: np.ndarray,
    at: np.ndarray,
    cells: Cells,
) -> None:
    """Copies what a block has at addresses, `source`, and so at positions, `at`, to its cells."""
    column, number = of_cluster(block.cluster).column(thread), convergent.current.number
    report, memory = block.reporter(convergent), of_block(block)
    block.shadow.check_tensor_read("tcgen05.cp", thread, column, at, number, report)
    memory.check_allocated(convergent, cells, "writes")
    if block is not convergent.block:
        block.note_sent(convergent, column)
    memory.shadow.copy(convergent, thread, cells)
    words = block.shared.load(source, 1)[..., 0].view(np.uint32)
    memory.data[cells.lanes, cells.columns] = np.tile(words, (LANES // WARP, 1))
