"""C = (scales * weights) * X: weights of 4 bits become bf16 in registers, as A of the product."""

import mlir_smem.language as sl


@sl.kernel("(M,J):u8, (M,G):f32, (K,N):bf16, (M,N):f32", warpgroups=3)
def int4_matmul(W, S, X, C, *, bm=128, bn=16, stages=4, group=128):
    """Compute C (M, N) of 4-bit weights (M, K), two to a byte, and X (K, N).

    W is `mlir_smem.layout.pack_nibbles(weights, interleaved=True)`, of weights from -8 to 7; K is a
    multiple of `group`. S has a scale for each row and each `group` of K, which multiplies the group's
    product: a conversion is exact, and a weight costs no multiplication.
    """
    M, N = sl.multiple_of(C.shape, (bm, bn))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    steps = S.shape[1]
    w, b = sl.alloc((stages, bm, group // 2), W.dtype), sl.alloc((stages, group, bn), X.dtype)
    pipe = sl.pipeline(stages, consumers=2)
    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for k in sl.range(steps):
                with pipe.producer(k) as stage:
                    packed = W[sl.ds(y * bm, bm), sl.ds(k * (group // 2), group // 2)]
                    sl.tma_load(packed, w[stage], stage)
                    sl.tma_load(X[sl.ds(k * group, group), sl.ds(x * bn, bn)], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            row = y * bm + warpgroup * 64
            acc = sl.zeros((64, bn), sl.f32)
            for k in sl.range(steps):
                scale = sl.load(S[sl.ds(row, 64), k], axis=1)
                with pipe.consumer(k) as stage:
                    rows = w[stage][sl.ds(warpgroup * 64, 64), :]
                    a = sl.load(rows.bitcast(sl.i4, interleaved=True)).to(sl.bf16)
                    acc = acc + sl.mma(a, b[stage]) * scale
            sl.store(acc, C[sl.ds(row, 64), sl.ds(x * bn, bn)])
