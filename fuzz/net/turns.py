"""Kernels whose warpgroups take turns: at the tensor cores, or at the indices of a pipeline."""

from random import Random

import ml_dtypes
import numpy as np

import mlir_smem.language as sl

from ..generated.kernels import KernelCase


def turns_kernel(random: Random) -> KernelCase:
    """Draw a kernel D = A @ B of several warpgroups and of a thread that loads by TMA.

    Each warpgroup multiplies its own rows. All read the same stages, or each reads stages of its own
    (ping-pong), which the warpgroups take in turn.
    """
    warpgroups, steps = random.choice((1, 2, 2, 3)), random.choice((1, 2, 3, 4))
    stages, late = random.choice((1, 2, 2, 3)), random.choice((0, 1))
    turns, own_stages = random.random() < 0.8, random.random() < 0.4
    columns = random.choice((16, 32, 64))
    if own_stages:
        # With fewer stages a warpgroup would wait for a phase two after the one that it has seen, which
        # has the same parity.
        kernel = _alternating_stages(warpgroups, steps, max(stages, warpgroups), columns, turns)
    else:
        kernel = _shared_stages(warpgroups, steps, max(stages, 1 + late), columns, turns, late)
    text = kernel.mlir(sl.bf16, sl.bf16, sl.f32)
    draw = np.random.default_rng(random.randrange(1 << 16))
    a = draw.integers(-2, 3, (64 * warpgroups, 64 * steps)).astype(ml_dtypes.bfloat16)
    b = draw.integers(-2, 3, (64 * steps, columns)).astype(ml_dtypes.bfloat16)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    d = np.zeros(exact.shape, np.float32)
    inputs = {"A": a, "B": b, "D": d}
    return KernelCase(text, "kernel", inputs, "D", (1,), exact, np.zeros_like(exact))


def _signature(warpgroups: int, steps: int, columns: int) -> str:
    rows, depth = 64 * warpgroups, 64 * steps
    return f"({rows},{depth}), ({depth},{columns}), ({rows},{columns})"


def _shared_stages(
    warpgroups: int, steps: int, stages: int, columns: int, turns: bool, late: int
) -> "sl.Kernel":
    """A kernel whose warpgroups read the same stages, and release each `late` steps later."""

    @sl.kernel(_signature(warpgroups, steps, columns), warpgroups=1 + warpgroups, sync="manual")
    def kernel(A, B, D):
        a = sl.alloc((stages, 64 * warpgroups, 64), A.dtype)
        b = sl.alloc((stages, 64, columns), B.dtype)
        pipe = sl.pipeline(stages, consumers=warpgroups)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                # Nothing reads index 0 of a late release.
                for k in sl.range(steps + late):
                    depth = sl.ds(sl.unsigned(sl.maximum(k - late, 0)) * 64, 64)
                    with pipe.producer(k) as stage:
                        sl.tma_load(A[:, depth], a[stage], stage)
                        sl.tma_load(B[depth, :], b[stage], stage)
            with sl.partition(warpgroups) as warpgroup:
                rows = sl.ds(warpgroup * 64, 64)
                d = sl.zeros((64, columns), sl.f32, in_flight=bool(late))
                if late:
                    pipe.wait(0)
                for k in sl.range(steps):
                    if late:
                        d = sl.wait(d)
                        pipe.release(k)
                    index = sl.make_warp_uniform(k + late)
                    stage = pipe.wait(index)
                    if turns:
                        with sl.ordered():
                            d = sl.mma(a[stage][rows, :], b[stage], d)
                    else:
                        d = sl.mma(a[stage][rows, :], b[stage], d)
                    if not late:
                        d = sl.wait(d)
                        pipe.release(index)
                sl.store(sl.wait(d) if late else d, D[rows, :])

    return kernel


def _alternating_stages(
    warpgroups: int, steps: int, stages: int, columns: int, turns: bool
) -> "sl.Kernel":
    """A kernel whose warpgroups take the indices of a pipeline in turn."""

    @sl.kernel(_signature(warpgroups, steps, columns), warpgroups=1 + warpgroups, sync="manual")
    def kernel(A, B, D):
        a = sl.alloc((stages, 64, 64), A.dtype)
        b = sl.alloc((stages, 64, columns), B.dtype)
        pipe = sl.pipeline(stages)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                for k in sl.range(steps):
                    for w in sl.range(warpgroups):
                        with pipe.producer(k * warpgroups + w) as stage:
                            rows = sl.ds(w * 64, 64)
                            depth = sl.ds(k * 64, 64)
                            sl.tma_load(A[rows, depth], a[stage], stage)
                            sl.tma_load(B[depth, :], b[stage], stage)
            with sl.partition(warpgroups) as warpgroup:
                d = sl.zeros((64, columns), sl.f32)
                for k in sl.range(steps):
                    index = sl.make_warp_uniform(k * warpgroups + warpgroup)
                    stage = pipe.wait(index)
                    if turns:
                        with sl.ordered():
                            d = sl.mma(a[stage], b[stage], d)
                    else:
                        d = sl.mma(a[stage], b[stage], d)
                    d = sl.wait(d)
                    pipe.release(index)
                sl.store(d, D[sl.ds(warpgroup * 64, 64), :])

    return kernel
