"""Kernels with plain loops, whose tiles get stages."""

import numpy as np
from ml_dtypes import bfloat16

import mlir_smem.language as sl


def product(stages, bm=64, bn=64, bk=32, **options):
    """Return the kernel of a product, whose loop has stages, and other options of sl.range."""

    @sl.kernel("(M,K), (K,N), (M,N)")
    def matmul(A, B, C):
        x, y = sl.grid(sl.cdiv(C.shape[1], bn), sl.cdiv(C.shape[0], bm))
        a, b, acc = (
            sl.alloc((bm, bk), A.dtype),
            sl.alloc((bk, bn), B.dtype),
            sl.zeros((bm, bn), sl.f32),
        )
        for k in sl.range(sl.cdiv(A.shape[1], bk), stages=stages, **options):
            sl.copy(A[sl.ds(y * bm, bm), sl.ds(k * bk, bk)], a)
            sl.copy(B[sl.ds(k * bk, bk), sl.ds(x * bn, bn)], b)
            acc = sl.mma(a, b, acc)
        sl.store(acc, C[sl.ds(y * bm, bm), sl.ds(x * bn, bn)])

    return matmul


def gather_blocks(stages):
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


@sl.kernel("(T,64), (U,64), (U,64), (T):f32, (T,64)")
def causal_attention(Q, K, V, S, Out):
    """Attention of 128 queries each, times S, without a division by the sums of rows."""
    row = sl.grid(sl.cdiv(Q.shape[0], 128)) * 128
    q, k, v = (sl.alloc(shape, Q.dtype) for shape in ((128, 64), (32, 64), (32, 64)))
    sl.copy(Q[sl.ds(row, 128), :], q)
    o = sl.zeros((128, 64), sl.f32)
    scale = sl.load(S[sl.ds(row, 128)], axis=1)
    for i in sl.range(sl.cdiv(K.shape[0], 32), specialize=True):
        sl.copy(K[sl.ds(i * 32, 32), :], k)
        sl.copy(V[sl.ds(i * 32, 32), :], v)
        s = sl.mma(q, k.T)
        p = sl.where(sl.iota(1) + i * 32 <= row + sl.iota(0), sl.maximum(s, 0.0), 0.0)
        o = sl.mma((p * scale).to(Q.dtype), v, o)
    sl.store(o, Out[sl.ds(row, 128), :])


@sl.kernel("(M,K), (K,N), (M,N)")
def whole_tiles(A, B, C):
    """A product of whole tiles, whose lines TMA can store."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (128, 96, 32))
    x, y = sl.grid(sl.cdiv(N, 96), sl.cdiv(M, 128))
    rows, columns = sl.ds(y * 128, 128), sl.ds(x * 96, 96)
    a, b, acc = (
        sl.alloc((128, 32), A.dtype),
        sl.alloc((32, 96), B.dtype),
        sl.zeros((128, 96), sl.f32),
    )
    for k in sl.range(K // 32, specialize=True):
        sl.copy(A[rows, sl.ds(k * 32, 32)], a)
        sl.copy(B[sl.ds(k * 32, 32), columns], b)
        acc = sl.mma(a, b, acc)
    sl.store(acc, C[rows, columns])


@sl.kernel("(M,K), (K,N), (M,N)")
def persistent(A, B, C):
    """A product whose blocks compute one tile after the other."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (64, 32, 16))
    a, b = sl.alloc((64, 16), A.dtype), sl.alloc((16, 32), B.dtype)
    for tile in sl.range(sl.block_id(0), M // 64 * (N // 32), sl.grid_dim(0)):
        rows, columns = sl.ds(tile % (M // 64) * 64, 64), sl.ds(tile // (M // 64) * 32, 32)
        acc = sl.zeros((64, 32), sl.f32)
        for k in sl.range(K // 16, stages=3, specialize=True):
            sl.copy(A[rows, sl.ds(k * 16, 16)], a)
            sl.copy(B[sl.ds(k * 16, 16), columns], b)
            acc = sl.mma(a, b, acc)
        sl.store(acc, C[rows, columns])


@sl.kernel("(M,K), (N,K), (T,M,N), (N):f32")
def largest_of_columns(A, B, C, Largest):
    """Products of 64 rows, whose consumers divide the columns, and the largest of each column, T times;
    above the diagonal the products are 0."""
    _, K = sl.multiple_of((C.shape[2], A.shape[1]), (128, 16))
    a, b = sl.alloc((64, 16), A.dtype), sl.alloc((128, 16), B.dtype)
    for time in sl.range(C.shape[0]):
        acc = sl.zeros((64, 128), sl.f32)
        for k in sl.range(K // 16, stages=3, specialize=True):
            sl.copy(A[0:64, sl.ds(k * 16, 16)], a)
            sl.copy(B[0:128, sl.ds(k * 16, 16)], b)
            acc = sl.mma(a, b.T, acc)
        acc = sl.where(sl.iota(1) <= sl.iota(0), acc, 0.0)
        sl.store(acc.max(axis=0), Largest[0:128])
        sl.store(acc, C[time, 0:64, 0:128])


def product_through_a_tile(**options):
    """Return the kernel of a product that is written to the tile of A, and from there to C."""

    @sl.kernel("(64,K), (K,64), (64,64)")
    def matmul(A, B, C):
        a, b, acc = (
            sl.alloc((64, 64), A.dtype),
            sl.alloc((64, 64), B.dtype),
            sl.zeros((64, 64), sl.f32),
        )
        for k in sl.range(sl.cdiv(A.shape[1], 64), **options):
            sl.copy(A[0:64, sl.ds(k * 64, 64)], a)
            sl.copy(B[sl.ds(k * 64, 64), 0:64], b)
            acc = sl.mma(a, b, acc)
        sl.store(acc, a)
        sl.store(sl.load(a), C[0:64, 0:64])

    return matmul


def attention_operands(t, u):
    """Return Q, K, V, S, an array for O, and what it is."""
    random = np.random.default_rng(t)
    q, k, v = (random.integers(-1, 2, (n, 64)).astype(bfloat16) for n in (t, u, u))
    s = random.integers(0, 3, t).astype(np.float32)
    q[:, 8:] = 0  # so that weights are exact in bf16
    scores = q.astype(np.float32) @ k.astype(np.float32).T
    weights = np.where(np.arange(u) <= np.arange(t)[:, None], np.maximum(scores, 0), 0)
    expected = (weights * s[:, None]) @ v.astype(np.float32)
    return q, k, v, s, np.full((t, 64), 99, np.float32), expected


def operands(m, n, k):
    """Return A, B, an array for C, and what it is."""
    random = np.random.default_rng(k)
    a, b = (random.integers(-3, 4, shape).astype(bfloat16) for shape in ((m, k), (k, n)))
    return a, b, np.full((m, n), 99, np.float32), a.astype(np.float32) @ b.astype(np.float32)


def blocks(begin, end):
    """Return P of `gather_blocks`, and the blocks that its loop takes."""
    taken = [5, 0, 3, 3, 7][: len(range(begin, end, 2))]
    return np.array([begin, end, 3, *taken], np.int32), taken


def product_of_blocks(a, b, taken):
    """Return A * B of blocks of 16 along K."""
    columns = np.concatenate([np.arange(16) + 16 * block for block in taken] or [[]]).astype(int)
    return a[:, columns].astype(np.float32) @ b[columns].astype(np.float32)


@sl.kernel("(M,K), (K,N), (1):i32, (M,N)")
def squared_operand(A, B, P, C):
    """A product of the squares of A's first blocks of 32, P[0] of them, computed in registers."""
    row, column = (x * 64 for x in sl.grid(sl.cdiv(C.shape[0], 64), sl.cdiv(C.shape[1], 64)))
    a, b = sl.alloc((64, 32), A.dtype), sl.alloc((32, 64), B.dtype)
    acc = sl.zeros((64, 64), sl.f32)
    for k in sl.range(P[0].to(sl.index), specialize=True):
        sl.copy(A[sl.ds(row, 64), sl.ds(k * 32, 32)], a)
        sl.copy(B[sl.ds(k * 32, 32), sl.ds(column, 64)], b)
        x = sl.load(a, sl.f32)
        acc = sl.mma((x * x).to(A.dtype), b, acc)
    sl.store(acc, C[sl.ds(row, 64), sl.ds(column, 64)])
