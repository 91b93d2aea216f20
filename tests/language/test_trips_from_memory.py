"""Pipelines whose loops have numbers of iterations that the kernel reads from memory."""

import numpy as np
import pytest
from varying_trips import DEPTH, M, N, expected, operands

import mlir_smem.language as sl
from mlir_smem.language.errors import TraceError
from mlir_smem.runtime import run_on_cpu

COUNTS = np.array([3, 0, 4, 1, 2], np.int32)


def counted(T, tile):
    return sl.unsigned(sl.maximum(T[tile].to(sl.index), 1))


def products(loaded=counted, written=None):
    """Make the kernel in which each tile of rows of C is a product over a number of K blocks in T.

    Args:
        loaded: the producer's number.
        written: a number that the consumer writes to T, if any.
    """

    @sl.kernel("(M,K), (K,N), (M,N), (S)", warpgroups=2, sync="manual")
    def kernel(A, B, C, T):
        a, b = sl.alloc((4, M, DEPTH), sl.bf16), sl.alloc((4, DEPTH, N), sl.bf16)
        loads = sl.pipeline(4)
        tiles, first, ctas = sl.cdiv(A.shape[0], M), sl.block_id(0), sl.grid_dim(0)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                index = 0
                for tile in sl.range(first, tiles, ctas):
                    for k in sl.range(loaded(T, tile)):
                        with loads.producer(index + k) as stage:
                            at = sl.ds(k * DEPTH, DEPTH)
                            sl.tma_load(A[sl.ds(tile * M, M), at], a[stage], stage)
                            sl.tma_load(B[at, 0:N], b[stage], stage)
                    index = index + loaded(T, tile)
            with sl.partition():
                index = 0
                for tile in sl.range(first, tiles, ctas):
                    acc = sl.zeros((M, N), sl.f32)
                    for k in sl.range(counted(T, tile)):
                        with loads.consumer(index + k) as stage:
                            acc = sl.wait(sl.mma(a[stage], b[stage], acc))
                    sl.store(acc, C[sl.ds(tile * M, M), 0:N])
                    if written is not None:
                        T[tile] = written
                    index = index + counted(T, tile)

    return kernel


def given():
    return operands(len(COUNTS)) | {"T": COUNTS.copy()}


@pytest.mark.parametrize("ctas", [1, 2])
def test_the_order_is_proven_for_all_contents(ctas):
    arrays, kernel = given(), products()
    assert kernel.check(*arrays.values()) == ()
    compiled = kernel.compile(*arrays.values(), emit="nvvm")
    found = run_on_cpu(compiled, None, arrays, ["C"], grid=(ctas,))["C"]
    assert np.array_equal(found, expected(arrays, lambda tile: max(COUNTS[tile], 1)))


@pytest.mark.parametrize(
    "changed",
    [
        {"written": 2},
        {"loaded": lambda T, tile: counted(T, 0)},
        {"loaded": lambda T, tile: counted(T, tile) + 1},
    ],
    ids=["written", "another element", "one more"],
)
def test_other_numbers_are_not_proven(changed):
    try:
        assert products(**changed).check(*given().values()) != ()
    except TraceError:
        return
