"""Warpgroups that take the stages of bulk loads in turn: which stages they have, and what is proven."""

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu


def alternating(stages, warpgroups=2, chunk=1):
    """Make the kernel in which warpgroups copy tiles of A to C in turn, `chunk` tiles each time."""

    @sl.kernel("(M,64), (M,64)", warpgroups=1 + warpgroups, sync="manual")
    def kernel(A, C):
        tiles = sl.alloc((stages, 64, 64), sl.f32)
        loads = sl.pipeline(stages)
        rounds = sl.cdiv(A.shape[0], 64 * warpgroups * chunk)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                for index in sl.range(rounds * warpgroups * chunk):
                    with loads.producer(index) as stage:
                        sl.tma_load(A[sl.ds(index * 64, 64), 0:64], tiles[stage], stage)
            with sl.partition(warpgroups) as warpgroup:
                for turn in sl.range(rounds):
                    for i in range(chunk):
                        index = (turn * warpgroups + warpgroup) * chunk + i
                        with loads.consumer(index) as stage:
                            tile = sl.load(tiles[stage])
                            sl.fence()
                        sl.store(tile, C[sl.ds(index * 64, 64), 0:64])

    return kernel


@pytest.mark.parametrize("stages, warpgroups, chunk", [(2, 2, 1), (4, 2, 1), (6, 3, 1), (4, 2, 2)])
def test_each_stage_has_one_warpgroup(stages, warpgroups, chunk):
    kernel = alternating(stages, warpgroups, chunk)
    a = np.arange(64 * 12 * 64, dtype=np.float32).reshape(64 * 12, 64)
    arguments = {"A": a, "C": np.zeros_like(a)}
    assert kernel.check(*arguments.values()) == ()
    compiled = kernel.compile(*arguments.values(), emit="nvvm")
    assert np.array_equal(run_on_cpu(compiled, None, arguments, ["C"], grid=(1,))["C"], a)


@pytest.mark.parametrize("stages, warpgroups, chunk", [(3, 2, 1), (5, 2, 2), (2, 2, 2), (4, 3, 1)])
def test_stages_that_change_hands_are_not_proven(stages, warpgroups, chunk):
    """The warpgroup has not waited for the previous phase of the stage, whose load may complete later."""
    a = np.zeros((64 * 12, 64), np.float32)
    remarks = alternating(stages, warpgroups, chunk).check(a, a)
    skipped = (warpgroups - 1) * chunk
    assert f"it skips {skipped} pipeline ind" in str(remarks[0])
    assert "whose loads may complete later" in str(remarks[0])
