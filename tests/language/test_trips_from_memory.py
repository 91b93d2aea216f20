"""Pipelines whose loops have numbers of iterations that the kernel reads from memory."""

import numpy as np
import pytest
from varying_trips import DEPTH, M, N, expected_products, operands

import mlir_smem.language as sl
from mlir_smem.language.errors import TraceError
from mlir_smem.runtime import run_on_cpu

COUNTS = np.array([3, 0, 4, 1, 2], np.int32)


def trip_count(T, tile):
    return sl.unsigned(sl.maximum(T[tile].to(sl.index), 1))


def products(loaded=trip_count, written=None):
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
                            k_block = sl.ds(k * DEPTH, DEPTH)
                            sl.tma_load(A[sl.ds(tile * M, M), k_block], a[stage], stage)
                            sl.tma_load(B[k_block, 0:N], b[stage], stage)
                    index = index + loaded(T, tile)
            with sl.partition():
                index = 0
                for tile in sl.range(first, tiles, ctas):
                    acc = sl.zeros((M, N), sl.f32)
                    for k in sl.range(trip_count(T, tile)):
                        with loads.consumer(index + k) as stage:
                            acc = sl.wait(sl.mma(a[stage], b[stage], acc))
                    sl.store(acc, C[sl.ds(tile * M, M), 0:N])
                    if written is not None:
                        T[tile] = written
                    index = index + trip_count(T, tile)

    return kernel


def arguments():
    return operands(len(COUNTS)) | {"T": COUNTS.copy()}


@pytest.mark.parametrize("ctas", [1, 2])
def test_the_order_is_proven_for_all_contents(ctas):
    arrays, kernel = arguments(), products()
    assert kernel.check(*arrays.values()) == ()
    compiled = kernel.compile(*arrays.values(), emit="nvvm")
    c = run_on_cpu(compiled, None, arrays, ["C"], grid=(ctas,))["C"]
    assert np.array_equal(c, expected_products(arrays, lambda tile: max(COUNTS[tile], 1)))


@pytest.mark.parametrize(
    "changed",
    [
        {"written": 2},
        {"loaded": lambda T, tile: trip_count(T, 0)},
        {"loaded": lambda T, tile: trip_count(T, tile) + 1},
    ],
    ids=["written", "another element", "one more"],
)
def test_other_numbers_are_not_proven(changed):
    try:
        assert products(**changed).check(*arguments().values()) != ()
    except TraceError:
        return
