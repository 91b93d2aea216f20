"""Kernels with plain loops, whose tiles get stages."""

import numpy as np
from ml_dtypes import bfloat16

import mlir_smem.language as sl


def product(stages, bm=64, bn=64, bk=32):
    """Return the kernel of a product, whose loop has stages."""

    @sl.kernel("(M,K), (K,N), (M,N)")
    def matmul(A, B, C):
        x, y = sl.grid(sl.cdiv(C.shape[1], bn), sl.cdiv(C.shape[0], bm))
        a, b, acc = (
            sl.alloc((bm, bk), A.dtype),
            sl.alloc((bk, bn), B.dtype),
            sl.zeros((bm, bn), sl.f32),
        )
        for k in sl.range(sl.cdiv(A.shape[1], bk), stages=stages):
            sl.copy(A[sl.ds(y * bm, bm), sl.ds(k * bk, bk)], a)
            sl.copy(B[sl.ds(k * bk, bk), sl.ds(x * bn, bn)], b)
            acc = sl.mma(a, b, acc)
        sl.store(acc, C[sl.ds(y * bm, bm), sl.ds(x * bn, bn)])

    return matmul


def gathered(stages):
    """Return the kernel of blocks of K, whose numbers are in P: from its first to its second element."""

    @sl.kernel("(M,K), (K,N), (P):i32, (M,N)")
    def gather(A, B, P, C):
        a, b, acc = (
            sl.alloc((64, 16), A.dtype),
            sl.alloc((16, 64), B.dtype),
            sl.zeros((64, 64), sl.f32),
        )
        begin, end, place = (sl.unsigned(P[i].to(sl.index)) for i in range(3))
        for _ in sl.range(begin, end, 2, stages=stages):
            block = sl.ds(sl.unsigned(P[place].to(sl.index)) * 16, 16)
            sl.copy(A[0:64, block], a)
            sl.copy(B[block, 0:64], b)
            acc = sl.mma(a, b, acc)
            place = place + 1
        sl.store(acc, C[0:64, 0:64])

    return gather


def operands(m, n, k):
    """Return A, B, an array for C, and what it is."""
    random = np.random.default_rng(k)
    a, b = (random.integers(-3, 4, shape).astype(bfloat16) for shape in ((m, k), (k, n)))
    return a, b, np.full((m, n), 99, np.float32), a.astype(np.float32) @ b.astype(np.float32)


def blocks(begin, end):
    """Return P of `gathered`, and the blocks that its loop takes."""
    taken = [5, 0, 3, 3, 7][: len(range(begin, end, 2))]
    return np.array([begin, end, 3, *taken], np.int32), taken
