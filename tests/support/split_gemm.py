"""A GEMM split along K, with partitions, pipelines, TMA and semaphores."""

import ml_dtypes
import numpy as np

import mlir_smem.language as sl

BM, BN, BK = 128, 64, 64


@sl.kernel(
    "(M,K):(?,1), (K,N):(?,1), (M,N):f32:(?,1), (U,128,64):f32:(8192,64,1), (U,)",
    warpgroups=3,
    sync="manual",
)
def gemm(A, B, C, W, S, *, splits=2, stages=3):
    """A persistent GEMM. Unit u of the work is part u % splits of tile u // splits; the consumer that is
    the last at its half of a tile adds the parts of all in their order."""
    (M, K), N = A.shape, B.shape[1]
    a, b = sl.alloc((stages, BM, BK), A.dtype), sl.alloc((stages, BK, BN), B.dtype)
    c = sl.alloc((2, BM // 2, BN), sl.f32)
    pipe = sl.pipeline(stages, consumers=2)
    steps, columns = K // (BK * splits), sl.cdiv(N, BN)
    first, units, blocks = sl.block_id(0), sl.cdiv(M, BM) * columns * splits, sl.grid_dim(0)
    with sl.warp_specialize():
        with sl.partition(registers=40), sl.elect():
            index = 0
            for unit in sl.range(first, units, blocks):
                tile, part = unit // splits, unit % splits
                row, column = tile // columns * BM, tile % columns * BN
                for k in sl.range(steps):
                    with pipe.producer(index + k) as stage:
                        first_k = (part * steps + k) * BK
                        sl.tma_load(A[sl.ds(row, BM), sl.ds(first_k, BK)], a[stage], stage)
                        sl.tma_load(B[sl.ds(first_k, BK), sl.ds(column, BN)], b[stage], stage)
                index = index + steps
        with sl.partition(warpgroups=2, registers=232) as warpgroup:
            index, first_row = 0, warpgroup * (BM // 2)
            for unit in sl.range(first, units, blocks):
                tile = unit // splits
                row, column = tile // columns * BM, tile % columns * BN
                acc = sl.zeros((BM // 2, BN), sl.f32)
                for k in sl.range(steps):
                    stage = pipe.wait(index + k)
                    acc = sl.wait(
                        sl.mma(a[stage][first_row : first_row + BM // 2, :], b[stage], acc)
                    )
                    pipe.release(sl.unsigned(index + k))
                index = index + steps
                sl.store(acc, W[unit, sl.ds(first_row, BM // 2), 0:BN])
                with sl.when(sl.semaphore_arrive(S, tile * 2 + warpgroup, splits)):
                    total = sl.load(W[tile * splits, sl.ds(first_row, BM // 2), 0:BN])
                    for k in sl.range(1, splits):
                        total = total + sl.load(
                            W[tile * splits + k, sl.ds(first_row, BM // 2), 0:BN]
                        )
                    sl.store(total, c[warpgroup])
                    sl.fence(), sl.warpgroup_barrier()
                    with sl.elect():
                        sl.tma_store(
                            c[warpgroup], C[sl.ds(row + first_row, BM // 2), sl.ds(column, BN)]
                        )
                        sl.tma_commit()
                        sl.tma_wait()
                    sl.warpgroup_barrier()


def arguments(m, n, k, splits):
    """The arguments of `gemm`, of small integers, so that sums are exact."""
    random = np.random.default_rng(5)
    tiles = -(-m // BM) * -(-n // BN)
    return {
        "A": random.integers(-4, 5, (m, k)).astype(ml_dtypes.bfloat16),
        "B": random.integers(-4, 5, (k, n)).astype(ml_dtypes.bfloat16),
        "C": np.zeros((m, n), np.float32),
        "W": np.zeros((tiles * splits, BM, BN), np.float32),
        "S": np.zeros(tiles * splits, np.int32),
    }


def expected_product(arrays):
    """The product."""
    return arrays["A"].astype(np.float32) @ arrays["B"].astype(np.float32)
