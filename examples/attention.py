"""Causal attention: O = softmax(scale * Q * K^T) * V, in base 2, as `attention.mlir`."""

import mlir_smem.language as sl


@sl.kernel("(T,d), (T,d), (T,d), (), (T,d):f32, (T):f32")
def attention(Q, K, V, scale, O, L, *, d=64, keys=64):
    """Compute O (T, d), and L, the logarithm of the sums of weights.

    Q, K and V are (T, d); T is a multiple of 64 and of `keys`, the keys of a step. `scale` includes
    log2(e). A CTA computes 64 queries.
    """
    T = sl.multiple_of(sl.multiple_of(Q.shape[0], keys), 64)
    query = sl.grid(sl.cdiv(T, 64)) * 64
    q, k, v = sl.alloc((64, d), Q.dtype), sl.alloc((d, keys), K.dtype), sl.alloc((keys, d), V.dtype)
    sl.copy(Q[query : query + 64, 0:d], q)

    o, sums = sl.zeros((64, d), sl.f32), sl.zeros((64,), sl.f32, axis=1)
    m = sl.full((64,), float("-inf"), sl.f32, axis=1)
    for key in sl.range(0, query + 64, keys):
        sl.copy(K[key : key + keys, 0:d], k, permutation=(1, 0))
        sl.copy(V[key : key + keys, 0:d], v)
        s = sl.mma(q, k) * scale
        s = sl.where(key + sl.iota(1) <= query + sl.iota(0), s, float("-inf"))
        old, m = m, sl.maximum(m, s.max(axis=1))
        p, shrink = sl.exp2(s - m), sl.exp2(old - m)
        sums = sums * shrink + p.sum(axis=1)
        o = sl.mma(p.to(V.dtype), v, o * shrink)
    sl.store(o / sums, O[query : query + 64, 0:d])
    sl.store(m + sl.log2(sums), L[query : query + 64])
