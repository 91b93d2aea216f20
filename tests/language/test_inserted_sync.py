"""Kernels without synchronisation: a pass inserts it."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.passes import pass_named
from mlir_smem.runtime import run_on_cpu

pytestmark = pytest.mark.skipif(
    "insert-sync" not in pass_named("smem-to-nvvm").options(),
    reason="smem-to-nvvm has no option insert-sync",
)

B = sl.bf16


@sl.kernel("(M,K), (K,N), (M,N)", warpgroups=2)
def matmul(A, B, C, *, bm=128, bn=256, bk=64):
    """The matmul of the examples, without fences, barriers, commits and waits."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (bm, bn, bk))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    column, row, own, steps = x * bn, y * bm, sl.warpgroup_id() * 64, K // bk
    a, b = sl.alloc((4, bm, bk), A.dtype), sl.alloc((4, bk, bn), B.dtype)

    def fetch(k):
        with sl.when(k < steps):
            sl.copy_async(A[row : row + bm, k * bk : k * bk + bk], a[k % 4])
            sl.copy_async(B[k * bk : k * bk + bk, column : column + bn], b[k % 4])

    for k in sl.range(2):
        fetch(k)
    acc = sl.zeros((64, bn), sl.f32)
    for k in sl.range(steps):
        acc = sl.mma(a[k % 4][own : own + 64, :], b[k % 4], acc)
        fetch(k + 2)
    sl.store(acc, C[row + own : row + own + 64, column : column + bn])


def test_a_matmul_computes_and_is_proven():
    random = np.random.default_rng(2)
    a, b = (random.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((128, 320), (320, 256)))
    assert matmul.check(B, B, B) == ()
    given = {"A": a, "B": b, "C": np.zeros((128, 256), ml_dtypes.bfloat16)}
    found = run_on_cpu(matmul.compile(B, B, B, emit="nvvm"), None, given, ["C"])["C"]
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(found.astype(np.float32), expected, rtol=1e-2, atol=0.2)


def test_an_mma_can_be_read():
    @sl.kernel("(64,64), (64,64)")
    def kernel(A, D):
        a = sl.alloc((64, 64), sl.bf16)
        sl.copy(A, a)
        sl.store(sl.mma(a, a) * 2.0, D)

    text = kernel.mlir(B, sl.f32)
    assert "smem.fence" not in text and "smem.wait" not in text
    assert "in_flight" not in text
    a = np.random.default_rng(2).integers(-3, 4, (64, 64)).astype(ml_dtypes.bfloat16)
    found = run_on_cpu(kernel.compile(B, sl.f32, emit="nvvm"), None, {"A": a}, ["D"], grid=(1,))
    wide = a.astype(np.float32)
    np.testing.assert_array_equal(found["D"], 2 * wide @ wide)
