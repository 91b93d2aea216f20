"""Decoding with a paged latent cache, as in MLA: the values are columns of the tile of the keys."""

import ml_dtypes
import numpy as np

import mlir_smem.language as sl


@sl.kernel("(R,64,d), (N,page,d), (R,P):i32, (), (R,64,dv):f32", warpgroups=2)
def decode(Q, C, Pages, scale, Out, *, d=96, dv=64, page=32, stages=2):
    """Attend from 64 heads of each of R requests to the tokens of its P pages."""
    request = sl.grid(Q.shape[0])
    q, keys = sl.alloc((64, d), Q.dtype), sl.alloc((stages, page, d), C.dtype)
    sl.copy(Q[request, :, 0:d], q)
    pipe, steps = sl.pipeline(stages), Pages.shape[1]
    with sl.warp_specialize():
        with sl.partition(1, registers=24), sl.elect():
            for i in sl.range(steps):
                with pipe.producer(i) as stage:
                    at = Pages[request, i].to(sl.index)
                    sl.tma_load(C[at, 0:page, 0:d], keys[stage], stage)
        with sl.partition(1, registers=240):
            o, sums = sl.zeros((64, dv), sl.f32), sl.zeros((64,), sl.f32, axis=1)
            m = sl.full((64,), float("-inf"), sl.f32, axis=1)
            for i in sl.range(steps):
                with pipe.consumer(i) as stage:
                    s = sl.mma(q, keys[stage].T) * scale
                    old, m = m, sl.maximum(m, s.max(axis=1))
                    p, shrink = sl.exp2(s - m), sl.exp2(old - m)
                    sums = sums * shrink + p.sum(axis=1)
                    o = sl.mma(p.to(C.dtype), keys[stage][:, 0:dv], o * shrink)
            sl.store(o / sums, Out[request, :, 0:dv])


def test_the_values_are_the_memory_of_the_keys():
    random = np.random.default_rng(1)
    q, cache = (
        random.standard_normal(shape).astype(ml_dtypes.bfloat16)
        for shape in ((2, 64, 96), (7, 32, 96))
    )
    pages = np.array([[5, 0, 3], [1, 5, 6]], np.int32)
    o = np.zeros((2, 64, 64), np.float32)
    types = (sl.bf16, sl.bf16, sl.i32, sl.f32, sl.f32)
    assert not decode.check(*types)
    assert decode.mlir(*types).count("smem.tma_load") == 1
    decode(q, cache, pages, float(np.log2(np.e) / np.sqrt(96)), o, on="cpu")
    for request, table in enumerate(pages):
        keys = cache[table].reshape(-1, 96).astype(np.float64)
        scores = q[request].astype(np.float64) @ keys.T / np.sqrt(96)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        expected = weights / weights.sum(axis=1, keepdims=True) @ keys[:, :64]
        # Weights are rounded to 8 bits.
        assert np.abs(o[request] - expected).max() <= 2.0**-8 * np.abs(keys).max()
