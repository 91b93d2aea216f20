"""Products whose parts are in the shared memory of the CTAs of a cluster, which add them up."""

from types import SimpleNamespace

import numpy as np
from ml_dtypes import bfloat16

import mlir_smem.language as sl

#: The tile of C, and the K of a block.
M, N, DEPTH = 128, 64, 64


def cluster_sum(ctas, *, before=True, after=True, written=True, filled=False):
    """Make the kernel in which each CTA doubles a tile, and adds those of all CTAs in its columns.

    Args:
        ctas: those of the cluster.
        before, after: whether barriers of the cluster stand before and after the loads.
        written: whether every CTA writes its tile, and not only the first one of the cluster.
        filled: whether the tile is written again at the end.
    """

    @sl.kernel("(P,64,64), (64,64)", cluster=(ctas,), sync="manual")
    def kernel(A, C):
        part, rank = sl.alloc((64, 64), sl.f32), sl.block_id(0) % ctas
        doubled = sl.load(A[rank, 0:64, 0:64]) * 2.0
        if written:
            sl.store(doubled, part)
        else:
            with sl.when(rank < 1):
                sl.store(doubled, part)
        if before:
            sl.cluster_barrier()
        columns = sl.ds(rank * (64 // ctas), 64 // ctas)
        total = sl.load(part[:, columns], rank=0)
        for other in range(1, ctas):
            total = total + sl.load(part[:, columns], rank=other)
        sl.store(total, C[0:64, columns])
        if filled:
            if after:
                sl.cluster_barrier()
            sl.store(doubled, part)

    return kernel


def split_k(ctas, warpgroups=2, **changed):
    """Make the kernel of a product of which each CTA of a cluster has a part of K.

    Args:
        ctas: those of the cluster.
        warpgroups: those that multiply.
        changed: what a faulty kernel has otherwise: `written` (barriers of the cluster before the part
            is written), `consumers`, `producers` (those of the consumers and of the producer), `early`
            (whether the producer's barrier comes before its loads).
    """
    how = SimpleNamespace(**{"consumers": 1, "producers": 1, "early": False} | changed)
    rows = M // warpgroups

    @sl.kernel("(M,K), (K,N), (M,N)", warpgroups=1 + warpgroups, cluster=(ctas,), sync="manual")
    def kernel(A, B, C):
        rank = sl.block_id(0) % ctas
        a = sl.alloc((3, M, DEPTH), sl.bf16)
        b = sl.alloc((3, DEPTH, N), sl.bf16)
        part = sl.alloc((M, N), sl.f32)
        loads = sl.pipeline(3, consumers=warpgroups)
        blocks = sl.cdiv(A.shape[1], DEPTH)
        begin, end = blocks * rank // ctas, blocks * (rank + 1) // ctas
        count = sl.unsigned(end - begin)
        with sl.warp_specialize():
            with sl.partition():
                if how.early:
                    sl.cluster_barrier()
                with sl.elect():
                    for k in sl.range(count):
                        k_slice = sl.ds((begin + k) * DEPTH, DEPTH)
                        with loads.producer(k) as stage:
                            sl.tma_load(A[0:M, k_slice], a[stage], stage)
                            sl.tma_load(B[k_slice, 0:N], b[stage], stage)
                for _ in range(how.producers - how.early):
                    sl.cluster_barrier()
            with sl.partition(warpgroups) as warpgroup:
                row_slice = sl.ds(warpgroup * rows, rows)
                acc = sl.zeros((rows, N), sl.f32)
                for k in sl.range(count):
                    with loads.consumer(k) as stage:
                        acc = sl.wait(sl.mma(a[stage][row_slice, :], b[stage], acc))
                sl.store(acc, part[row_slice, :])
                for _ in range(how.consumers):
                    sl.cluster_barrier()
                columns = sl.ds(rank * (N // ctas), N // ctas)
                total = sl.load(part[row_slice, columns], rank=0)
                for other in range(1, ctas):
                    total = total + sl.load(part[row_slice, columns], rank=other)
                sl.store(total, C[row_slice, columns])

    return kernel


def operands(k, seed=0):
    """Integers, whose products and sums are exact."""
    random = np.random.default_rng(seed)
    a, b = (random.integers(-4, 5, shape).astype(bfloat16) for shape in ((M, k), (k, N)))
    return {"A": a, "B": b, "C": np.zeros((M, N), np.float32)}


def parts(ctas, seed=0):
    """Tiles whose sum depends on the order of the additions."""
    random = np.random.default_rng(seed)
    shape = ctas, 64, 64
    a = random.standard_normal(shape) * 10.0 ** random.integers(-4, 5, shape)
    return {"A": a.astype(np.float32), "C": np.zeros((64, 64), np.float32)}


def expected_sum(a):
    """The sum of the doubled tiles in their order."""
    total = a[0] * np.float32(2)
    for tile in a[1:]:
        total = total + tile * np.float32(2)
    return total
