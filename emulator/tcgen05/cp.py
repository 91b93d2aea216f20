"""Execution of a `tcgen05.cp`: from shared memory, by a descriptor, to cells of tensor memory."""

from __future__ import annotations

import numpy as np

from ..cta import ConvergentThreads, Cta
from ..errors import Stop, ViolationKind
from ..lanes import WARP
from ..tensor_core.operand_reads import bytes_read
from ..tensor_core.operands import matrix_bytes
from .cells import LANES, TensorMemoryCells, split_address
from .descriptors import UnknownInstruction, decode_matrix
from .pairs import ctas_of
from .tcgen05_clocks import tcgen05_clocks_of
from .tensor_memory import report_misuse, tensor_memory_of

#: Bytes of a row of shape 32x128b.
_ROW_BYTES = 16


def execute(
    convergent: ConvergentThreads, row: int, address: int, descriptor: int, group: int
) -> None:
    """Copy 32 rows of 16 bytes to the 32 lanes of each quarter of tensor memory (shape 32x128b, warpx4).

    The cells are in flight. With a CTA pair, each CTA copies from its shared to its tensor memory.

    Args:
        convergent: the threads.
        row: the index among them of the thread that issues it.
        address: of the first cell in tensor memory.
        descriptor: of the rows, without swizzle: groups of 8 contiguous rows, SBO bytes apart.
        group: number of CTAs that copy.

    Raises:
        Stop: if the descriptor is invalid, rows are outside of shared memory, or the cells are not
            allocated; this is reported.
        UnknownInstruction: if the rows are swizzled.
    """
    try:
        fields = decode_matrix(descriptor, False, 1)
    except ValueError as error:
        message = f"has an invalid descriptor: {error}"
        convergent.cta.report_at(convergent, ViolationKind.DESCRIPTOR, message)
        raise Stop from None
    if fields.width > _ROW_BYTES:
        raise UnknownInstruction("copies rows that are swizzled")
    source = matrix_bytes(fields, 8, False, WARP, _ROW_BYTES)
    offsets = bytes_read(convergent, "rows", source, 1)
    lane, column = split_address(address)
    if lane:
        report_misuse(
            convergent, f"copies to lane {lane} of tensor memory; expected 0 for shape 32x128b"
        )
    cells = TensorMemoryCells(*np.ix_(np.arange(LANES), column + np.arange(_ROW_BYTES // 4)))
    for cta in ctas_of(convergent, group):
        _copy(convergent, cta, int(convergent.threads[row]), source, offsets, cells)


def _copy(
    convergent: ConvergentThreads,
    cta: Cta,
    thread: int,
    source: np.ndarray,
    offsets: np.ndarray,
    cells: TensorMemoryCells,
) -> None:
    """Copy from addresses in shared memory, and their offsets of bytes, to cells of the same CTA."""
    column, number = tcgen05_clocks_of(cta.cluster).column(thread), convergent.current.number
    report, memory = cta.reporter(convergent), tensor_memory_of(cta)
    cta.shadow.check_tcgen05_read("tcgen05.cp", thread, column, offsets, number, report)
    memory.check_allocated(convergent, cells, "writes")
    if cta is not convergent.cta:
        cta.note_incoming(convergent, column)
    memory.shadow.cp(convergent, thread, cells)
    words = cta.shared.load(source, 1)[..., 0].view(np.uint32)
    memory.data[cells.lanes, cells.columns] = np.tile(words, (LANES // WARP, 1))
