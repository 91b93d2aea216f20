"""C = (scales * weights) * X: weights of 4 bits become bf16 in registers, as A of the product.

Two warpgroups take the groups of K in turn, and add their sums: few rows fill the GPU, too.
"""

import mlir_smem.language as sl


@sl.kernel("(M,J):u8, (M,G):f32, (K,N):bf16, (M,N):f32", warpgroups=3, min_blocks=2)
def int4_matmul(W, S, X, C, *, bm=64, bn=16, stages=6, group=128):
    """Compute C (M, N) of 4-bit weights (M, K), two to a byte, and X (K, N).

    W is `mlir_smem.layout.pack_nibbles(weights, interleaved=True)`, of weights from -8 to 7; K is a
    multiple of 2 * `group`. S has a scale for each row and each `group` of K, which multiplies the
    group's product: a conversion is exact, and a weight costs no multiplication.
    """
    M, N = sl.multiple_of(C.shape, (bm, bn))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    rows, columns = sl.ds(y * bm, bm), sl.ds(x * bn, bn)
    steps = sl.multiple_of(S.shape[1], 2) // 2
    w, b = sl.alloc((stages, bm, group), W.dtype), sl.alloc((stages, 2 * group, bn), X.dtype)
    sums = sl.alloc((2, bm, bn), sl.f32)
    pipe = sl.pipeline(stages, consumers=2)
    with sl.warp_specialize():
        with sl.partition(1, registers=24), sl.elect():
            for k in range(steps):  # two groups, the bytes of a row of `group`
                with pipe.producer(k) as stage:
                    sl.tma_load(W[rows, sl.ds(k * group, group)], w[stage], stage)
                    sl.tma_load(X[sl.ds(2 * k * group, 2 * group), columns], b[stage], stage)
        with sl.partition(2, registers=104) as warpgroup:
            acc = sl.zeros((bm, bn), sl.f32)
            for k in range(steps):
                scale = sl.load(S[rows, 2 * k + warpgroup], axis=1)
                with pipe.consumer(k) as stage:
                    packed = w[stage][:, sl.ds(warpgroup * (group // 2), group // 2)]
                    a = sl.load(packed.bitcast(sl.i4, interleaved=True)).to(sl.bf16)
                    acc = acc + sl.mma(a, b[stage][sl.ds(warpgroup * group, group), :]) * scale
            sl.store(acc, sums[warpgroup])
            sl.warpgroup_barrier(2)
            with sl.when(warpgroup == 0):
                sl.store(acc + sl.load(sums[1]), C[rows, columns])
