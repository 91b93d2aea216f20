"""Buffers that a loop takes in turn: what is still stored is another one than is written."""

import pytest

import mlir_smem.language as sl
from mlir_smem.passes.check_async.polynomials import SymbolTable, number
from mlir_smem.passes.check_async.tile_slices import AxisSlice


def stores(buffers, pending, rows):
    """Return a kernel that writes and stores one buffer after the other.

    Args:
        buffers: their number.
        pending: how many stores may still read theirs when a buffer is written.
        rows: whether they are rows of one tile, and not its stages.
    """

    @sl.kernel("(M,64), (M,64)", warpgroups=1, sync="manual")
    def kernel(A, C):
        tile = sl.alloc((buffers * 64, 64) if rows else (buffers, 64, 64), A.dtype)
        with sl.warp_specialize(), sl.partition(1):
            for i in sl.range(sl.cdiv(A.shape[0], 64)):
                number = i % buffers
                buffer = tile[sl.ds(number * 64, 64), :] if rows else tile[number]
                with sl.elect():
                    sl.tma_wait(pending, read=True)
                sl.warpgroup_barrier()
                sl.store(sl.load(A[sl.ds(i * 64, 64), :]), buffer)
                sl.fence()
                sl.warpgroup_barrier()
                with sl.elect():
                    sl.tma_store(buffer, C[sl.ds(i * 64, 64), :])
                    sl.tma_commit()
            with sl.elect():
                sl.tma_wait(0)

    return kernel


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("buffers", [2, 3])
@pytest.mark.parametrize("early", [0, 1])
def test_stores_in_flight(buffers, early, rows):
    remarks = stores(buffers, buffers - 1 + early, rows).check("bf16", "bf16")
    assert len(remarks) == early, remarks
    assert all(
        "not known whether it shares bytes with the smem.tma_store" in str(x) for x in remarks
    )


@pytest.mark.parametrize(
    "ahead, size, overlaps",
    [(1, 64, False), (2, 64, False), (3, 64, None), (4, 64, False), (1, 65, None)],
)
def test_remainders(ahead, size, overlaps):
    symbols = SymbolTable()
    x = symbols.symbol(("x",), lower_bound=0).polynomial

    def extent(dividend):
        operands = dividend, number(3)
        remainder = symbols.symbol(("arith.remui", "", operands), operands, lower_bound=0)
        return AxisSlice(remainder.polynomial * number(64), size, 256)

    assert extent(x).overlaps(extent(x + number(ahead))) is overlaps
