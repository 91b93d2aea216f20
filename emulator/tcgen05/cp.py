"""One `tcgen05.cp` of a thread: bytes of shared memory by a descriptor, to cells of tensor memory."""

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

#: Bytes that each row of shape 32x128b has.
_ROW_BYTES = 16


def execute(
    convergent: ConvergentThreads, row: int, address: int, descriptor: int, group: int
) -> None:
    """Copies 32 rows of 16 bytes to the lanes of each quarter of tensor memory (shape 32x128b with
    warpx4); the cells are in flight. Of a pair, each CTA copies from its shared to its tensor memory.

    Args:
        convergent: the threads.
        row: which of them issues it.
        address: of the first cell.
        descriptor: of the rows: without swizzle, so that 8 of them lie densely, and SBO after that the
            next 8.
        group: how many CTAs copy.

    Raises:
        Stop: if the descriptor is none, or leads out of shared memory, or the cells are not there, which
            is reported.
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
    """Copies what a CTA has at addresses, `source`, and so at positions, `at`, to its cells."""
    column, number = of_cluster(cta.cluster).column(thread), convergent.current.number
    report, memory = cta.reporter(convergent), of_cta(cta)
    cta.shadow.check_tcgen05_read("tcgen05.cp", thread, column, at, number, report)
    memory.check_allocated(convergent, cells, "writes")
    if cta is not convergent.cta:
        cta.note_incoming(convergent, column)
    memory.shadow.cp(convergent, thread, cells)
    words = cta.shared.load(source, 1)[..., 0].view(np.uint32)
    memory.data[cells.lanes, cells.columns] = np.tile(words, (LANES // WARP, 1))
