"""Kernels whose warpgroups exchange rows through a tile of their partition."""

import numpy as np

import mlir_smem.language as sl

ROWS = np.arange(128 * 64).reshape(128, 64).astype(np.float32)
ROWS_F16 = (ROWS % 512).astype(np.float16)


def exchange(write=0, read=0, count=1, sync="manual"):
    """Return a kernel whose warpgroups write rows of A to a tile, and read those of each other.

    Args:
        write: warpgroups of the barrier after the write; 0 for none.
        read: those of the barrier after the read.
        count: how often that is done.
        sync: whether synchronization is inserted.
    """

    @sl.kernel("(128,64), (128,64)", warpgroups=3, sync=sync)
    def kernel(A, C):  # noqa: N803
        tile = sl.alloc((128, 64), A.dtype)
        with sl.warp_specialize():
            with sl.partition(1):
                pass
            with sl.partition(2) as warpgroup:
                row = warpgroup * 64
                for _ in sl.range(count):
                    x = sl.load(A[sl.ds(row, 64), :])
                    sl.store(x, tile[sl.ds(row, 64), :])
                    if write:
                        sl.warpgroup_barrier(write)
                    y = sl.load(tile[sl.ds(64 - row, 64), :])
                    if read:
                        sl.warpgroup_barrier(read)
                    sl.store(y, C[sl.ds(row, 64), :])

    return kernel


def product(sync="manual", fences=(True, False)):
    """Return a kernel whose warpgroups each write half of B, and then read all of it.

    Args:
        sync: whether synchronization is inserted.
        fences: whether there is a fence before, and after, the barrier of both.
    """

    @sl.kernel("(128,64), (64,64), (128,64)", warpgroups=2, sync=sync)
    def kernel(A, B, C):  # noqa: N803
        a, b = sl.alloc((128, 64), A.dtype), sl.alloc((64, 64), B.dtype)
        with sl.warp_specialize(), sl.partition(2) as warpgroup:
            rows, half = sl.ds(warpgroup * 64, 64), sl.ds(warpgroup * 32, 32)
            sl.store(sl.load(A[rows, :]), a[rows, :])
            sl.store(sl.load(B[:, half]), b[:, half])
            if sync == "manual":
                for barrier, fence in zip((2, 1), fences, strict=True):
                    if fence:
                        sl.fence()
                    sl.warpgroup_barrier(barrier)
            acc = sl.mma(a[rows, :], b)
            sl.store(sl.wait(acc) if sync == "manual" else acc, C[rows, :])

    return kernel
