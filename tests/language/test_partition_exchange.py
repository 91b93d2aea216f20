"""Rows that the warpgroups of a partition exchange through a tile."""

import re

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.emulator.errors import Violations
from mlir_smem.language.errors import TraceError

ROWS = np.arange(128 * 64).reshape(128, 64).astype(np.float32)
ROWS_F16 = (ROWS % 512).astype(np.float16)

MESSAGE = re.compile(
    "another warpgroup of its partition may access the same bytes by the smem.load at .*; put "
    "smem.warpgroup_barrier with warpgroups = 2 between them"
)


def exchange(write=0, read=0, count=1, sync="manual"):
    """Return a kernel whose warpgroups write rows of A to a tile, and read those of each other.

    Args:
        write: warpgroups of the barrier after the write; 0 for none.
        read: those of the barrier after the read.
        count: how often that is done.
        sync: whether synchronization is inserted.
    """

    @sl.kernel("(128,64), (128,64)", warpgroups=3, sync=sync)
    def kernel(A, C):
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
    def kernel(A, B, C):
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


@pytest.mark.parametrize("count", [1, 3])
def test_rows_are_exchanged(count):
    c = np.zeros_like(ROWS)
    exchange(sync="auto", count=count)[1](ROWS, c, on="cpu")
    assert np.array_equal(c, np.roll(ROWS, 64, 0))


@pytest.mark.parametrize("sync", ["auto", "manual"])
def test_all_read_what_each_writes(sync):
    b, c = np.eye(64, dtype=np.float16)[::-1].copy(), np.zeros_like(ROWS)
    product(sync)[1](ROWS_F16, b, c, on="cpu")
    assert np.array_equal(c, ROWS_F16[:, ::-1])


@pytest.mark.parametrize(
    "barriers", [{"write": 2}, {"write": 2, "read": 2, "count": 3}, {"write": 2, "read": 1}]
)
def test_a_barrier_of_both_is_enough(barriers):
    assert exchange(**barriers).check("f32", "f32") == ()


@pytest.mark.parametrize(
    "barriers",
    [
        {"write": 1},
        {"write": 1, "read": 2, "count": 2},
        {"write": 2, "read": 1, "count": 2},
    ],
)
def test_a_barrier_of_one_is_not(barriers):
    kernel = exchange(**barriers)
    assert any(MESSAGE.search(str(remark)) for remark in kernel.check("f32", "f32"))
    with pytest.raises(Violations):
        kernel[1](ROWS, np.zeros_like(ROWS), on="cpu")


def test_a_fence_comes_before_the_barrier_of_both():
    with pytest.raises(TraceError, match=r"put smem\.fence between them"):
        product(fences=(False, False)).check("f16", "f16", "f32")
    (remark,) = product(fences=(False, True)).check("f16", "f16", "f32")
    assert "put smem.fence and smem.warpgroup_barrier with warpgroups = 2" in str(remark)
