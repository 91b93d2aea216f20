"""The gradients of `attention.py`: a tile is loaded once, and read by rows and, by `.T`, by columns."""

import math

import mlir_smem.language as sl


@sl.kernel("(T,d):f32, (T,d), (T):f32")
def delta(O, dO, D, *, d=64):
    """Compute D, the sums of the rows of O * dO. O and dO are (T, d); T is a multiple of 64."""
    row = sl.grid(sl.cdiv(sl.multiple_of(O.shape[0], 64), 64)) * 64
    rows = slice(row, row + 64)
    sl.store((sl.load(O[rows, 0:d]) * sl.load(dO[rows, 0:d])).sum(axis=1), D[rows])


@sl.kernel("(T,d), (T,d), (T,d), (T,d), (T):f32, (T):f32, (), (T,d), (T,d)", warpgroups=3)
def dkdv(Q, K, V, dO, L, D, scale, dK, dV, *, d=64, queries=64, stages=2):
    """Compute dK and dV (T, d).

    L is the result of `attention`, and D of `delta`; T is a multiple of 128 and of `queries`, those of a
    step. `scale` includes log2(e). A CTA computes 128 keys, each of two warpgroups 64: the products are
    transposed, keys by queries, so that P^T and dS^T are the A of the next mma, in registers.
    """
    T = sl.multiple_of(sl.multiple_of(Q.shape[0], queries), 128)
    key = sl.grid(sl.cdiv(T, 128)) * 128
    k, v = sl.alloc((128, d), K.dtype), sl.alloc((128, d), V.dtype)
    q, do = sl.alloc((stages, queries, d), Q.dtype), sl.alloc((stages, queries, d), dO.dtype)
    sl.copy(K[key : key + 128, 0:d], k)
    sl.copy(V[key : key + 128, 0:d], v)
    pipe = sl.pipeline(stages, consumers=2)
    steps = sl.unsigned((T - key) // queries)  # from the first query that sees a key
    with sl.warp_specialize():
        with sl.partition(1, registers=24), sl.elect():
            for i in sl.range(steps):
                rows = sl.ds(key + i * queries, queries)
                with pipe.producer(i) as stage:
                    sl.tma_load(Q[rows, 0:d], q[stage], stage)
                    sl.tma_load(dO[rows, 0:d], do[stage], stage)
        with sl.partition(2, registers=240) as warpgroup:
            own, first = sl.ds(warpgroup * 64, 64), key + warpgroup * 64
            dk, dv = sl.zeros((64, d), sl.f32), sl.zeros((64, d), sl.f32)
            for i in sl.range(steps):
                query = key + i * queries
                columns = sl.ds(query, queries)
                with pipe.consumer(i) as stage:
                    s = sl.mma(k[own, :], q[stage].T) * scale
                    dp = sl.mma(v[own, :], do[stage].T)
                    p = sl.exp2(s - sl.load(L[columns], axis=0))
                    p = sl.where(first + sl.iota(0) <= query + sl.iota(1), p, 0.0)
                    ds = p * (dp - sl.load(D[columns], axis=0))
                    dv = sl.mma(p.to(dO.dtype), do[stage], dv)
                    dk = sl.mma(ds.to(Q.dtype), q[stage], dk)
            sl.store(dk * (scale * math.log(2)), dK[sl.ds(first, 64), 0:d])
            sl.store(dv, dV[sl.ds(first, 64), 0:d])


@sl.kernel("(T,d), (T,d), (T,d), (T,d), (T):f32, (T):f32, (), (T,d)", warpgroups=3)
def dq(Q, K, V, dO, L, D, scale, dQ, *, d=64, keys=64, stages=2):
    """Compute dQ (T, d); see `dkdv`. A CTA computes 128 queries, in steps of `keys`."""
    T = sl.multiple_of(sl.multiple_of(Q.shape[0], keys), 128)
    query = sl.grid(sl.cdiv(T, 128)) * 128
    q, do = sl.alloc((128, d), Q.dtype), sl.alloc((128, d), dO.dtype)
    k, v = sl.alloc((stages, keys, d), K.dtype), sl.alloc((stages, keys, d), V.dtype)
    sl.copy(Q[query : query + 128, 0:d], q)
    sl.copy(dO[query : query + 128, 0:d], do)
    pipe = sl.pipeline(stages, consumers=2)
    steps = (query + 128) // keys
    with sl.warp_specialize():
        with sl.partition(1, registers=24), sl.elect():
            for i in sl.range(steps):
                rows = sl.ds(i * keys, keys)
                with pipe.producer(i) as stage:
                    sl.tma_load(K[rows, 0:d], k[stage], stage)
                    sl.tma_load(V[rows, 0:d], v[stage], stage)
        with sl.partition(2, registers=240) as warpgroup:
            own, first = sl.ds(warpgroup * 64, 64), query + warpgroup * 64
            rows = sl.ds(first, 64)
            log, sums = sl.load(L[rows], axis=1), sl.load(D[rows], axis=1)
            acc = sl.zeros((64, d), sl.f32)
            for i in sl.range(steps):
                with pipe.consumer(i) as stage:
                    s = sl.mma(q[own, :], k[stage].T) * scale
                    dp = sl.mma(do[own, :], v[stage].T)
                    p = sl.exp2(s - log)
                    p = sl.where(i * keys + sl.iota(1) <= first + sl.iota(0), p, 0.0)
                    acc = sl.mma((p * (dp - sums)).to(K.dtype), k[stage], acc)
            sl.store(acc * (scale * math.log(2)), dQ[rows, 0:d])
