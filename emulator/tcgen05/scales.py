"""Scale factors of A and B in tensor memory, for block scaling of `tcgen05.mma` (PTX ISA 9.7.16.10.7; the
layouts of its figures are those of CuTe).

A word of four bytes holds four consecutive factors along K. The word of row m, or of column n, is on lane
m % 32 of each quarter of the lanes, m / 32 columns after the address. The next word of a row comes
after the first words of all rows, of which there are 128 or 256.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ..cta import ConvergentThreads
from ..lanes import WARP
from ..tensor_core.multiplicands import Multiplicand
from .cells import LANES, TensorMemoryCells, split_address
from .descriptors import ScaleFactorFields
from .tensor_memory import TensorMemory, report_misuse

#: Columns of the words of 128 rows.
_COLUMNS = LANES // WARP

#: The type of scaled elements, for `multiply_add`. The exact summation of the hardware is not known; here
#: exact products of scaled elements of any type are summed like those of 16-bit types.
SCALED = Multiplicand(np.dtype(np.float64), 0, -143)

#: The largest code of ue4m3, which is e4m3 without its sign (PTX ISA 5.2.3).
_MOST = 0x7F

_DTYPES = {
    "ue8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "ue4m3": np.dtype(ml_dtypes.float8_e4m3fn),
}


def scale_operand(
    convergent: ConvergentThreads,
    memory: TensorMemory,
    thread: int,
    name: str,
    numbers: np.ndarray,
    address: int,
    scales: ScaleFactorFields,
) -> np.ndarray:
    """Return an operand, [m or n, k], times its scale factors.

    Args:
        convergent: the threads.
        memory: the tensor memory of the CTA whose D it is.
        thread: the thread that issues the mma, by its number in the cluster.
        name: "A" or "B".
        numbers: the operand.
        address: of the first word of its factors.
        scales: the block scaling.

    Raises:
        Stop: if the address or a factor is invalid, or the quarters of the lanes differ; this is
            reported.
    """
    rows, first = len(numbers), scales.a_first if name == "A" else scales.b_first
    count = numbers.shape[1] // scales.block
    lane, column = split_address(address)
    if lane:
        report_misuse(
            convergent, f"has scale factors of {name} at lane {lane} of tensor memory; expected 0"
        )
    quarter, row, word = np.ogrid[: LANES // WARP, :rows, : (first + count - 1) // 4 + 1]
    per_word = -(-rows // LANES) * _COLUMNS
    cells = TensorMemoryCells(quarter * WARP + row % WARP, column + row // WARP + word * per_word)
    memory.check_allocated(convergent, cells, f"reads scale factors of {name} from")
    memory.shadow.mma_operand(convergent, thread, cells)
    words = np.ascontiguousarray(memory.data[cells.lanes, cells.columns])
    factors_of_quarters = words.view(np.uint8)[..., first : first + count]
    if (factors_of_quarters != factors_of_quarters[0]).any():
        differing = int(
            np.flatnonzero((factors_of_quarters != factors_of_quarters[0]).any(axis=(0, 2)))[0]
        )
        letter = "row" if name == "A" else "column"
        report_misuse(
            convergent,
            f"has scale factors of {name} that differ between the quarters of the lanes, first for "
            f"{letter} {differing}: {_bytes(factors_of_quarters[:, differing])}",
        )
    if scales.factors == "ue4m3" and factors_of_quarters.max() > _MOST:
        report_misuse(
            convergent, f"has scale factors of {name} with a sign bit, which ue4m3 does not have"
        )
    factors = factors_of_quarters[0].view(_DTYPES[scales.factors]).astype(np.float64)
    return numbers * np.repeat(factors, scales.block, axis=1)


def _bytes(of_quarters: np.ndarray) -> str:
    return ", ".join(f"0x{bytes(quarter).hex()}" for quarter in of_quarters)
