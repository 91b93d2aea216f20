"""Views of a tile and of its transpose on the chip: byte for byte what the emulator computes."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu, run_on_gpu


@sl.kernel(
    "(64,64), (192,64), (64,128):f32, (64,64):f32, (64,128):f32, (64,64), (64,64)", warpgroups=2
)
def views(A, B, S, P, R, C, D):
    """Read and write A and B by rows and by columns, after one load of each.

    S = A * B[64:]^T, P = A^T * B[32:96]^T by registers, R = A[:, 16:32] * B[64:, 16:32]^T at run-time
    starts, C = B[32:96]^T through a tile that is written by columns, and D = A^T from global memory.
    """
    a, b, c = (
        sl.alloc((64, 64), A.dtype),
        sl.alloc((1, 192, 64), B.dtype),
        sl.alloc((64, 64), A.dtype),
    )
    filled = sl.pipeline(1)
    with sl.warp_specialize():
        with sl.partition(1), sl.elect(), filled.producer(0) as stage:
            sl.tma_load(A[:, :].T, a, stage)
            sl.tma_load(B[:, :], b[stage], stage)
        with sl.partition(1) as warpgroup, filled.consumer(0) as stage:
            sl.store(sl.mma(a.T, b[stage].T[:, 64:192]), S[:, :])
            sl.store(sl.mma(sl.load(a, a=True), b[stage][32:96, :].T), P[:, :])
            k = sl.ds(warpgroup * 16 + 16, 16)
            sl.store(sl.mma(a.T[:, k], b[stage].T[k, 64:192]), R[:, :])
            sl.store(sl.load(b[stage][32:96, :]), c)
            sl.store(sl.load(c.T), C[:, :])
            sl.store(sl.load(A[:, :].T), D[:, :])


@pytest.mark.parametrize("element", ["bfloat16", "float16"])
def test_views(element):
    dtype = np.dtype(getattr(ml_dtypes, element, element))
    random = np.random.default_rng(2)
    a, b = (random.integers(-3, 4, shape).astype(dtype) for shape in ((64, 64), (192, 64)))
    types = [sl.bf16 if element == "bfloat16" else sl.f16] * 2 + [sl.f32] * 3
    types += types[:2]
    names = ["S", "P", "R", "C", "D"]
    measured = run_on_gpu(views.compile(*types), "views", {"A": a, "B": b}, names, (1,))
    lowered = views.compile(*types, emit="nvvm")
    emulated = run_on_cpu(lowered, "views", {"A": a, "B": b}, names, (1,))
    x, y = a.astype(np.float32), b.astype(np.float32)
    expected = {"S": x @ y[64:].T, "P": x.T @ y[32:96].T, "R": x[:, 16:32] @ y[64:, 16:32].T}
    expected |= {"C": y[32:96].T, "D": x.T}
    for name in names:
        assert np.array_equal(measured[name].astype(np.float32), expected[name]), name
        assert np.array_equal(measured[name], emulated[name]), name
