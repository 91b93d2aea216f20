"""Scale factors of blocks of A and B, as `tcgen05.mma` takes them from tensor memory (PTX ISA
9.7.16.10.7, whose figures CuTe's layouts say).

A word of four bytes holds four factors that follow each other along K. Those of row m, or of column n,
are on lane m % 32, once in each quarter of the lanes, m / 32 columns on; the next words of a row are
behind those of all rows, of which there are 128 or 256.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ..convergent import ConvergentThreads
from ..lanes import WARP
from ..tensor_core.multiplicands import Multiplicand
from .descriptors import Scales
from .tensor_memory import LANES, Cells, TensorMemory, report_misuse, split

#: Columns that a word of 128 rows takes.
_COLUMNS = LANES // WARP

#: A scaled element, for `multiply_add`. How the hardware sums them is not known bit for bit; here the
#: exact products of scaled elements are summed as those of 16 bits are, whatever the elements' types.
SCALED = Multiplicand(np.dtype(np.float64), 0, -143)

#: The largest code of ue4m3, which is e4m3 without its sign (PTX ISA 5.2.3).
_MOST = 0x7F

_DTYPES = {
    "ue8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "ue4m3": np.dtype(ml_dtypes.float8_e4m3fn),
}


def scaled(
    convergent: ConvergentThreads,
    memory: TensorMemory,
    thread: int,
    name: str,
    numbers: np.ndarray,
    address: int,
    scales: Scales,
) -> np.ndarray:
    """An operand's numbers, [m or n, k], times their scale factors.

    Args:
        convergent: the threads.
        memory: that of the block whose product it is.
        thread: which of the threads multiplies, by the number in the cluster.
        name: "A" or "B".
        numbers: the operand's.
        address: of its factors' first word.
        scales: how they scale.

    Raises:
        Stop: if the factors are where they cannot be, or what none is, or not the same in each quarter of
            the lanes, which is reported.
    """
    rows, first = len(numbers), scales.a_first if name == "A" else scales.b_first
    count = numbers.shape[1] // scales.block
    lane, column = split(address)
    if lane:
        report_misuse(
            convergent, f"has scale factors of {name} at lane {lane} of tensor memory; expected 0"
        )
    quarter, row, word = np.ogrid[: LANES // WARP, :rows, : (first + count - 1) // 4 + 1]
    per_word = -(-rows // LANES) * _COLUMNS
    cells = Cells(quarter * WARP + row % WARP, column + row // WARP + word * per_word)
    memory.check_allocated(convergent, cells, f"reads scale factors of {name} from")
    memory.shadow.mma_operand(convergent, thread, cells)
    words = np.ascontiguousarray(memory.data[cells.lanes, cells.columns])
    held = words.view(np.uint8)[..., first : first + count]
    if (held != held[0]).any():
        at = int(np.flatnonzero((held != held[0]).any(axis=(0, 2)))[0])
        letter = "row" if name == "A" else "column"
        report_misuse(
            convergent,
            f"has scale factors of {name} that are not the same in each quarter of the lanes, at first "
            f"of {letter} {at}: {_bytes(held[:, at])}",
        )
    if scales.factors == "ue4m3" and held.max() > _MOST:
        report_misuse(
            convergent, f"has scale factors of {name} with a sign bit, which ue4m3 has not"
        )
    factors = held[0].view(_DTYPES[scales.factors]).astype(np.float64)
    return numbers * np.repeat(factors, scales.block, axis=1)


def _bytes(of_quarters: np.ndarray) -> str:
    return ", ".join(f"0x{bytes(each).hex()}" for each in of_quarters)
