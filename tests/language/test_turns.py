"""Turns of warpgroups, zeros in flight, and uniform indices, on the emulator."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.language import TraceError
from mlir_smem.runtime import run_on_cpu

RNG = np.random.default_rng(5)
B = sl.bf16


def in_turns(warpgroups, steps):
    """A kernel where each warpgroup multiplies 64 rows, in turns that go on behind each other's loads."""

    @sl.kernel(
        f"({64 * warpgroups},{64 * steps}), ({64 * steps},64), ({64 * warpgroups},64)",
        warpgroups=1 + warpgroups,
        sync="manual",
    )
    def kernel(A, B, D):
        a, b = sl.alloc((2, 64 * warpgroups, 64), A.dtype), sl.alloc((2, 64, 64), B.dtype)
        pipe = sl.pipeline(2, consumers=warpgroups)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                # Nothing reads index 0.
                for k in sl.range(steps + 1):
                    k_block = sl.ds(sl.unsigned(sl.maximum(k - 1, 0)) * 64, 64)
                    with pipe.producer(k) as stage:
                        sl.tma_load(A[:, k_block], a[stage], stage)
                        sl.tma_load(B[k_block, :], b[stage], stage)
            with sl.partition(warpgroups) as warpgroup:
                rows = sl.ds(warpgroup * 64, 64)
                # The mma of one step may run until the next one begins.
                d = sl.zeros((64, 64), sl.f32, in_flight=True)
                pipe.wait(0)
                for k in sl.range(steps):
                    d = sl.wait(d)
                    pipe.release(k)
                    index = sl.make_warp_uniform(k + 1)
                    stage = pipe.wait(index)
                    with sl.ordered():
                        d = sl.mma(a[stage][rows, :], b[stage], d)
                sl.store(sl.wait(d), D[rows, :])

    return kernel


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("warpgroups", [1, 2, 3])
def test_warpgroups_take_turns(warpgroups, steps):
    kernel = in_turns(warpgroups, steps)
    assert kernel.check(B, B, sl.f32) == ()
    a = RNG.integers(-3, 4, (64 * warpgroups, 64 * steps)).astype(ml_dtypes.bfloat16)
    b = RNG.integers(-3, 4, (64 * steps, 64)).astype(ml_dtypes.bfloat16)
    compiled = kernel.compile(B, B, sl.f32, emit="nvvm")
    d = run_on_cpu(compiled, None, {"A": a, "B": b}, ["D"], grid=(1,))["D"]
    np.testing.assert_array_equal(d, a.astype(np.float32) @ b.astype(np.float32))


def test_turns_with_indices_taken_in_turn_are_proven():
    @sl.kernel("(64,64), (64,64)", warpgroups=3, sync="manual")
    def kernel(A, D):
        a = sl.alloc((2, 64, 64), A.dtype)
        pipe = sl.pipeline(2)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                for k in sl.range(4):
                    with pipe.producer(k) as stage:
                        sl.tma_load(A[:, :], a[stage], stage)
            with sl.partition(2) as warpgroup:
                for k in sl.range(2):
                    index = 2 * k + warpgroup
                    stage = pipe.wait(index)
                    with sl.ordered():
                        d = sl.mma(a[stage], a[stage])
                    d = sl.wait(d)
                    pipe.release(index)

    assert kernel.check(B, sl.f32) == ()


def test_a_turn_that_one_warpgroup_does_not_take_is_not_proven():
    @sl.kernel("(128,64)", warpgroups=2, sync="manual")
    def kernel(D):
        with sl.warp_specialize(), sl.partition(2) as warpgroup:
            with sl.ordered():
                d = sl.full((64, 64), 1.0, sl.f32)
            with sl.when(warpgroup < 1), sl.ordered():
                d = sl.full((64, 64), 2.0, sl.f32)
            sl.store(d, D[sl.ds(warpgroup * 64, 64), :])

    (remark,) = kernel.check(sl.f32)
    assert "cannot prove that all warpgroups of its smem.partition take turns" in remark.message


def test_what_is_refused():
    def in_kernel(statement):
        @sl.kernel("(64,64)", sync="manual")
        def kernel(D):
            statement()

        return kernel.mlir(sl.f32)

    with pytest.raises(TraceError, match=r"takes an index, not 1\.5"):
        in_kernel(lambda: sl.make_warp_uniform(1.5))
    with pytest.raises(TraceError, match="what is in flight is a slice or an expression"):
        in_kernel(lambda: sl.zeros((64,), sl.f32, axis=1, in_flight=True))
    with pytest.raises(TraceError, match=r"is in no smem\.partition, whose warpgroups take turns"):
        in_kernel(lambda: sl.ordered().__enter__())
