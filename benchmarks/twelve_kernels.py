"""Kernels of `benchmarks/language_kernels.py` that are no examples, as one writes them after the docs."""

import math

import mlir_smem.language as sl


@sl.kernel("(M,K), (K,N), (N), (M,N)", warpgroups=3, min_blocks=1, fast=True)
def gemm_bias_silu(A, B, bias, C, *, bm=128, bn=128, bk=64, stages=4):
    """C = silu(A * B + bias) of any extents, persistent: a call gives the grid."""
    steps, tiles_n = sl.cdiv(A.shape[1], bk), sl.cdiv(C.shape[1], bn)
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    c, pipe = sl.alloc((bm, bn), C.dtype), sl.pipeline(stages, consumers=2)

    def tiles():
        n = 0
        for tile in sl.range(sl.block_id(0), sl.cdiv(C.shape[0], bm) * tiles_n, sl.grid_dim(0)):
            yield tile // tiles_n * bm, tile % tiles_n * bn, n
            n = n + steps

    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for row, column, n in tiles():
                for k in range(steps):
                    with pipe.producer(n + k) as stage:
                        sl.tma_load(A[sl.ds(row, bm), sl.ds(k * bk, bk)], a[stage], stage)
                        sl.tma_load(B[sl.ds(k * bk, bk), sl.ds(column, bn)], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            own = sl.ds(warpgroup * 64, 64)
            for row, column, n in tiles():
                acc = sl.zeros((64, bn), sl.f32)
                for k in range(steps):
                    stage = pipe.wait(n + k)
                    acc = sl.mma(a[stage][own, :], b[stage], acc)
                    if k > 0:
                        pipe.release(n + k - 1)
                pipe.release(n + steps - 1)
                x = acc + sl.load(bias[sl.ds(column, bn)], axis=0, other=0)
                sl.store(x / (1.0 + sl.exp(-x)), c[own, :])
                with sl.elect():
                    sl.tma_store(c[own, :], C[sl.ds(row + warpgroup * 64, 64), sl.ds(column, bn)])


@sl.kernel("(M,K), (K), (K,N), (M,N)", warpgroups=3, min_blocks=1)
def rms_norm_gemm(A, g, B, C, *, bm=128, bn=128, bk=64, stages=4, eps=1e-5):
    """C = rms_norm(A) * g * B; the sums of squares are of the tiles that are multiplied."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (bm, bn, bk))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    columns, steps = sl.ds(x * bn, bn), K // bk
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    pipe = sl.pipeline(stages, consumers=2)
    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for k in range(steps):
                with pipe.producer(k) as stage:
                    sl.tma_load(A[sl.ds(y * bm, bm), sl.ds(k * bk, bk)], a[stage], stage)
                    sl.tma_load(B[sl.ds(k * bk, bk), columns], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            acc, squares = sl.zeros((64, bn), sl.f32), sl.zeros((64,), sl.f32, axis=1)
            for k in range(steps):
                weights = sl.load(g[sl.ds(k * bk, bk)], axis=0)
                with pipe.consumer(k) as stage:
                    row = sl.load(a[stage][sl.ds(warpgroup * 64, 64), :])
                    squares = squares + (row * row).sum(axis=1)
                    acc = sl.mma((row * weights).to(B.dtype), b[stage], acc)
            normed = acc * sl.rsqrt(squares / K + eps)
            sl.store(normed, C[sl.ds(y * bm + warpgroup * 64, 64), columns])


@sl.kernel(
    "(H,T,64), (H,T,64), (H,T,64), (), (H,T,64), (H,T):f32", warpgroups=3, min_blocks=1, fast=True
)
def attention(Q, K, V, scale, O, L, *, d=64, keys=128, stages=2):
    """Causal attention without an overlap of products and exponentials; `scale` includes log2(e)."""
    H, T, _ = Q.shape
    x, head = sl.grid(sl.cdiv(sl.multiple_of(T, 128), 128), H)
    q = sl.alloc((128, d), Q.dtype)
    k, v = (sl.alloc((stages, keys, d), X.dtype) for X in (K, V))
    query, key, value = (sl.pipeline(n, consumers=2) for n in (1, stages, stages))
    steps = sl.cdiv(x * 128 + 128, keys)
    with sl.warp_specialize():
        with sl.partition(1, registers=24):
            with sl.elect(warp=1), query.producer(0) as stage:
                sl.tma_load(Q[head, sl.ds(x * 128, 128), :], q, stage)
            with sl.elect():
                for i in range(steps):
                    for array, tile, pipe in (K, k, key), (V, v, value):
                        with pipe.producer(i) as stage:
                            sl.tma_load(array[head, sl.ds(i * keys, keys), :], tile[stage], stage)
        with sl.partition(2, registers=240) as warpgroup:
            first = x * 128 + warpgroup * 64
            o, sums = sl.zeros((64, d), sl.f32), sl.zeros((64,), sl.f32, axis=1)
            m = sl.full((64,), float("-inf"), sl.f32, axis=1)
            query.wait(0)
            for i in range(steps):
                with key.consumer(i) as stage:
                    s = sl.mma(q[sl.ds(warpgroup * 64, 64), :], k[stage].T) * scale
                s = sl.where(i * keys + sl.iota(1) <= first + sl.iota(0), s, float("-inf"))
                old, m = m, sl.maximum(m, s.max(axis=1))
                p, shrink = sl.exp2(s - m), sl.exp2(old - m)
                sums = sums * shrink + p.sum(axis=1)
                with value.consumer(i) as stage:
                    o = sl.mma(p.to(V.dtype), v[stage], o * shrink)
            query.release(0)
            sl.store(o / sums, O[head, sl.ds(first, 64), :])
            sl.store((m + sl.log2(sums)) * math.log(2), L[head, sl.ds(first, 64)])


@sl.kernel("(M,K):e4m3, (K,N):(1,?):e4m3, (M,G):f32, (G,P):f32, (M,N)", warpgroups=3, min_blocks=1)
def fp8_gemm(A, B, SA, SB, C, *, bm=128, bn=128, bk=128, stages=4):
    """C = A * B of e4m3 with a factor for each 128 of K, of a row of A and of 128 columns of B."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (bm, bn, bk))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    columns, steps = sl.ds(x * bn, bn), K // bk
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    pipe = sl.pipeline(stages, consumers=2)
    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for k in range(steps):
                with pipe.producer(k) as stage:
                    sl.tma_load(A[sl.ds(y * bm, bm), sl.ds(k * bk, bk)], a[stage], stage)
                    sl.tma_load(B[sl.ds(k * bk, bk), columns], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            rows = sl.ds(y * bm + warpgroup * 64, 64)
            acc = sl.zeros((64, bn), sl.f32)
            for k in range(steps):
                with pipe.consumer(k) as stage:
                    part = sl.mma(a[stage][sl.ds(warpgroup * 64, 64), :], b[stage])
                    acc = acc + part * (sl.load(SA[rows, k], axis=1) * SB[k, x])
            sl.store(acc, C[rows, columns])


@sl.kernel("(T,K), (G,K,N), (Z):i32, (T,N)", warpgroups=3, min_blocks=1)
def grouped_gemm(A, B, begins, C, *, bm=128, bn=128, bk=64, stages=4):
    """C = A * B[g] for the rows of each group g, from begins[g] to begins[g + 1]; persistent."""
    G, K, N = sl.multiple_of(B.shape, (1, bk, bn))
    steps, tiles_n = K // bk, N // bn
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    pipe = sl.pipeline(stages, consumers=2)

    def begin(group):
        return sl.unsigned(begins[group].to(sl.index))

    def tiles_of(group):
        return sl.cdiv(sl.unsigned(begin(group + 1) - begin(group)), bm)

    def find(tile):  # the group of a tile of rows, and the tile's number in it
        group = 0
        while tile >= tiles_of(group):
            tile = sl.unsigned(tile - tiles_of(group))
            group = group + 1
        return group, tile

    total = 0
    for group in range(G):
        total = total + tiles_of(group)

    def tiles():
        n = 0
        for tile in sl.range(sl.block_id(0), total * tiles_n, sl.grid_dim(0)):
            group, number = find(tile // tiles_n)
            yield group, begin(group) + number * bm, tile % tiles_n * bn, n
            n = n + steps

    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for group, row, column, n in tiles():
                for k in range(steps):
                    with pipe.producer(n + k) as stage:
                        sl.tma_load(A[sl.ds(row, bm), sl.ds(k * bk, bk)], a[stage], stage)
                        sl.tma_load(B[group, sl.ds(k * bk, bk), sl.ds(column, bn)], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            for group, row, column, n in tiles():
                acc = sl.zeros((64, bn), sl.f32)
                for k in range(steps):
                    stage = pipe.wait(n + k)
                    acc = sl.mma(a[stage][sl.ds(warpgroup * 64, 64), :], b[stage], acc)
                    if k > 0:
                        pipe.release(n + k - 1)
                pipe.release(n + steps - 1)
                first = row + warpgroup * 64
                window = C[sl.ds(first, 64), sl.ds(column, bn)]
                sl.store(acc, window, rows=begin(group + 1) - first)


@sl.kernel("(M,K), (K,N), (P,M,N):f32, (Z):i32, (M,N)", warpgroups=3, min_blocks=1)
def split_k_gemm(A, B, parts, semaphores, C, *, bm=128, bn=128, bk=64, stages=4):
    """C = A * B of P parts of K, whose results the last warpgroup of a tile adds."""
    P, M, N = sl.multiple_of(parts.shape, (1, bm, bn))
    x, y, p = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm), P)
    total = sl.cdiv(A.shape[1], bk)
    begin = p * total // P
    steps = sl.unsigned((p + 1) * total // P - begin)
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    pipe = sl.pipeline(stages, consumers=2)
    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for k in range(steps):
                with pipe.producer(k) as stage:
                    at = sl.ds((begin + k) * bk, bk)
                    sl.tma_load(A[sl.ds(y * bm, bm), at], a[stage], stage)
                    sl.tma_load(B[at, sl.ds(x * bn, bn)], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            acc = sl.zeros((64, bn), sl.f32)
            for k in range(steps):
                with pipe.consumer(k) as stage:
                    acc = sl.mma(a[stage][sl.ds(warpgroup * 64, 64), :], b[stage], acc)
            rows, columns = sl.ds(y * bm + warpgroup * 64, 64), sl.ds(x * bn, bn)
            sl.store(acc, parts[p, rows, columns])
            if sl.semaphore_arrive(semaphores, (y * (N // bn) + x) * 2 + warpgroup, P):
                acc = sl.zeros((64, bn), sl.f32)
                for i in range(P):
                    acc = acc + sl.load(parts[i, rows, columns])
                sl.store(acc, C[rows, columns])


@sl.kernel("(M,K), (K,N), (M,N)")
def plain_gemm(A, B, C, *, bm=64, bn=128, bk=64):
    """C = A * B, a loop over tiles that a warpgroup copies and multiplies."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (bm, bn, bk))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    rows, columns = sl.ds(y * bm, bm), sl.ds(x * bn, bn)
    a, b = sl.alloc((bm, bk), A.dtype), sl.alloc((bk, bn), B.dtype)
    acc = sl.zeros((bm, bn), sl.f32)
    for k in range(0, K, bk):
        sl.copy(A[rows, k : k + bk], a)
        sl.copy(B[k : k + bk, columns], b)
        acc = sl.mma(a, b, acc)
    sl.store(acc, C[rows, columns])


@sl.kernel(
    "(B,64,192), (P,64,192), (B,G):i32, (B):i32, (), (B,64,128)",
    warpgroups=2,
    min_blocks=1,
    fast=True,
)
def paged_decode(Q, KV, table, lengths, scale, O, *, d=192, dv=128, stages=3):
    """Attention of 64 heads of a query, whose keys and values are the same pages of 64 rows."""
    batch = sl.grid(Q.shape[0])
    length = sl.unsigned(lengths[batch].to(sl.index))
    steps = sl.cdiv(length, 64)
    q, kv = sl.alloc((64, d), Q.dtype), sl.alloc((stages, 64, d), KV.dtype)
    query, pipe = sl.pipeline(1), sl.pipeline(stages)
    with sl.warp_specialize():
        with sl.partition(1, registers=40):
            with sl.elect(warp=1), query.producer(0) as stage:
                sl.tma_load(Q[batch, :, :], q, stage)
            with sl.elect():
                for i in range(steps):
                    page = sl.unsigned(table[batch, i].to(sl.index))
                    with pipe.producer(i) as stage:
                        sl.tma_load(KV[page, :, :], kv[stage], stage)
        with sl.partition(1, registers=232):
            o, sums = sl.zeros((64, dv), sl.f32), sl.zeros((64,), sl.f32, axis=1)
            m = sl.full((64,), float("-inf"), sl.f32, axis=1)
            query.wait(0)
            for i in range(steps):
                with pipe.consumer(i) as stage:
                    s = sl.mma(q, kv[stage].T) * scale
                    s = sl.where(i * 64 + sl.iota(1) < length, s, float("-inf"))
                    old, m = m, sl.maximum(m, s.max(axis=1))
                    p, shrink = sl.exp2(s - m), sl.exp2(old - m)
                    sums = sums * shrink + p.sum(axis=1)
                    o = sl.mma(p.to(KV.dtype), kv[stage][:, 0:dv], o * shrink)
            query.release(0)
            sl.store(o / sums, O[batch, :, :])


@sl.kernel("(T,K), (R):i32, (K,N), (R,N)")
def gathered_gemm(A, index, B, C, *, bn=128, bk=64):
    """C = A[index] * B: rows of A are gathered to registers."""
    R, N, K = sl.multiple_of((*C.shape, A.shape[1]), (64, bn, bk))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(R, 64))
    rows, columns = sl.ds(y * 64, 64), sl.ds(x * bn, bn)
    b = sl.alloc((bk, bn), B.dtype)
    row = index[y * 64 + sl.iota(0)].to(sl.index)
    acc = sl.zeros((64, bn), sl.f32)
    for k in range(0, K, bk):
        sl.copy(B[k : k + bk, columns], b)
        a = sl.zeros((64, bk), sl.f32) + A[row, k + sl.iota(1)].to(sl.f32)
        acc = sl.mma(a.to(B.dtype), b, acc)
    sl.store(acc, C[rows, columns])
