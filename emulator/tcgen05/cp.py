"""Execution of a `tcgen05.cp`: from shared memory, by a descriptor, to cells of tensor memory."""

from __future__ import annotations

import numpy as np

from ..convergent import ConvergentThreads
from ..cta import Cta
from ..errors import Stop, ViolationKind
from ..lanes import WARP
from ..tensor_core.operand_reads import bytes_read
from ..tensor_core.operands import matrix_bytes
from .descriptors import UnknownInstruction, matrix
from .pairs import ctas_of
from .tcgen05_clocks import of_cluster
from .tensor_memory import LANES, Cells, of_cta, report_misuse, split

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
        found = matrix(descriptor, False, 1)
    except ValueError as error:
        message = f"has an invalid descriptor: {error}"
        convergent.cta.report_at(convergent, ViolationKind.DESCRIPTOR, message)
        raise Stop from None
    if found.width > _ROW_BYTES:
        raise UnknownInstruction("copies rows that are swizzled")
    source = matrix_bytes(found, 8, False, WARP, _ROW_BYTES)
    at = bytes_read(convergent, "rows", source, 1)
    lane, column = split(address)
    if lane:
        report_misuse(
            convergent, f"copies to lane {lane} of tensor memory; expected 0 for shape 32x128b"
        )
    cells = Cells(*np.ix_(np.arange(LANES), column + np.arange(_ROW_BYTES // 4)))
    for cta in ctas_of(convergent, group):
        _copy(convergent, cta, int(convergent.threads[row]), source, at, cells)


def _copy(
    convergent: ConvergentThreads,
    cta: Cta,
    thread: int,
    source: np.ndarray,
    at: np.ndarray,
    cells: Cells,
) -> None:
    """Copy from `source`, addresses in shared memory with the offsets `at`, to cells of the same CTA."""
    column, number = of_cluster(cta.cluster).column(thread), convergent.current.number
    report, memory = cta.reporter(convergent), of_cta(cta)
    cta.shadow.check_tcgen05_read("tcgen05.cp", thread, column, at, number, report)
    memory.check_allocated(convergent, cells, "writes")
    if cta is not convergent.cta:
        cta.note_incoming(convergent, column)
    memory.shadow.cp(convergent, thread, cells)
    words = cta.shared.load(source, 1)[..., 0].view(np.uint32)
    memory.data[cells.lanes, cells.columns] = np.tile(words, (LANES // WARP, 1))
