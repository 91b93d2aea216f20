"""A product and attention as plain loops: what overlaps is for passes to find (docs/pipelining.md)."""

import math

import mlir_smem.language as sl


@sl.kernel("(M,K), (K,N), (M,N)")
def matmul(A, B, C, *, bm=128, bn=256, bk=64, group=8):
    """Compute C of A and B, tile after tile; their extents are multiples of bm, bn and bk."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (bm, bn, bk))
    tiles_m, tiles_n = M // bm, N // bn
    a, b = sl.alloc((bm, bk), A.dtype), sl.alloc((bk, bn), B.dtype)
    for tile in sl.range(sl.block_id(0), tiles_m * tiles_n, sl.grid_dim(0)):
        # The rows of a group of tiles share their columns in the L2 cache.
        first = tile // (group * tiles_n) * group
        height, within = sl.minimum(sl.unsigned(tiles_m - first), group), tile % (group * tiles_n)
        rows, columns = sl.ds((first + within % height) * bm, bm), sl.ds(within // height * bn, bn)
        acc = sl.zeros((bm, bn), sl.f32)
        for k in sl.range(K // bk, specialize=True):
            sl.copy(A[rows, sl.ds(k * bk, bk)], a)
            sl.copy(B[sl.ds(k * bk, bk), columns], b)
            acc = sl.mma(a, b, acc)
        sl.store(acc, C[rows, columns])


HEADS = ", ".join(["(B,H,T,d):(?,?,?,1)"] * 4)  # or a transposed view of (B, T, H, d)


@sl.kernel(HEADS, fast=True)
def attention(Q, K, V, O, *, d=128, causal=False):
    """Compute O = softmax(Q * K^T / sqrt(d)) * V, all (batch, heads, T, d); T is a multiple of 128."""
    blocks = sl.multiple_of(Q.shape[2], 128) // 128
    x, head, batch = sl.grid(sl.cdiv(Q.shape[2], 128), Q.shape[1], Q.shape[0])
    sl.assume(x < blocks)
    block = sl.unsigned(blocks - 1 - x)  # those with the most keys come first
    steps = block + 1 if causal else blocks
    q, k, v = (sl.alloc((128, d), Q.dtype) for _ in range(3))
    rows, scale = sl.ds(block * 128, 128), math.log2(math.e) / math.sqrt(d)
    sl.copy(Q[batch, head, rows, 0:d], q)
    m = sl.full((128,), float("-inf"), sl.f32, axis=1)
    total, o = sl.zeros((128,), sl.f32, axis=1), sl.zeros((128, d), sl.f32)
    for i in sl.range(steps, specialize=True):
        keys = sl.ds(sl.unsigned(steps - 1 - i) * 128, 128)  # only the first ones need a mask
        sl.copy(K[batch, head, keys, 0:d], k)
        sl.copy(V[batch, head, keys, 0:d], v)
        s = sl.mma(q, k.T)
        if causal and i == 0:
            s = sl.where(sl.iota(1) <= sl.iota(0), s, float("-inf"))
        old, m = m, sl.maximum(m, s.max(axis=1) * scale)
        p, shrink = sl.exp2(s * scale - m), sl.exp2(old - m)
        total = total * shrink + p.sum(axis=1)
        o = sl.mma(p.to(V.dtype), v, o * shrink)
    sl.store(o / total, O[batch, head, rows, 0:d])
