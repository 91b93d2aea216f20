"""Attention without tuning by hand: O = softmax(Q * K^T / sqrt(d)) * V for each head.

The products of the next keys and of the values before them run at the same time, as in FlashAttention-3.
"""

import math

import mlir_smem.language as sl

HEADS = ", ".join(["(B,H,T,d):(?,?,?,1)"] * 4)  # or a transposed view of (B, T, H, d)


@sl.kernel(HEADS, warpgroups=3, fast=True)
def attention(Q, K, V, O, *, d=128, causal=False, stages=2):
    """Compute O of Q, K and V, all (batch, heads, T, d); T is a multiple of 128.

    A CTA computes 128 queries of a head, from the last 128 keys that they see to the first ones, so that
    only the first step has a causal mask.
    """
    blocks = sl.multiple_of(Q.shape[2], 128) // 128
    x, head, batch = sl.grid(sl.cdiv(Q.shape[2], 128), Q.shape[1], Q.shape[0])
    sl.assume(x < blocks)
    block = sl.unsigned(blocks - 1 - x)  # those with the most keys come first
    steps = block + 1 if causal else blocks
    q, k, v = (sl.alloc(shape, Q.dtype) for shape in ((128, d), *[(stages, 128, d)] * 2))
    query, key, value = (sl.pipeline(n, consumers=2) for n in (1, stages, stages))
    scale = math.log2(math.e) / math.sqrt(d)
    with sl.warp_specialize():
        with sl.partition(1, registers=24):
            with sl.elect(warp=1), query.producer(0) as stage:
                sl.tma_load(Q[batch, head, sl.ds(block * 128, 128), 0:d], q, stage)
            with sl.elect():
                for i in range(steps):
                    rows = sl.ds(sl.unsigned(steps - 1 - i) * 128, 128)
                    for array, tile, pipe in (K, k, key), (V, v, value):
                        with pipe.producer(i) as stage:
                            sl.tma_load(array[batch, head, rows, 0:d], tile[stage], stage)
        with sl.partition(2, registers=240) as warpgroup:
            row = warpgroup * 64
            query.wait(0)
            with key.consumer(0) as stage:
                s = sl.mma(q[sl.ds(row, 64), :], k[stage].T)
            if causal:
                s = sl.where(sl.iota(1) <= row + sl.iota(0), s, float("-inf"))
            m = s.max(axis=1) * scale
            p = sl.exp2(s * scale - m)
            sums, o = p.sum(axis=1), sl.zeros((64, d), sl.f32)
            for i in range(1, steps):
                key_stage, value_stage = key.wait(i), value.wait(i - 1)
                with sl.ordered():
                    s = sl.mma(q[sl.ds(row, 64), :], k[key_stage].T)
                    o = sl.mma(p.to(V.dtype), v[value_stage], o)
                key.release(i)
                old, m = m, sl.maximum(m, s.max(axis=1) * scale)
                p, shrink = sl.exp2(s * scale - m), sl.exp2(old - m)
                sums = sums * shrink + p.sum(axis=1)
                value.release(i - 1)
                o = o * shrink
            with value.consumer(steps - 1) as stage:
                o = sl.mma(p.to(V.dtype), v[stage], o)
            query.release(0)
            sl.store(o / sums, O[batch, head, sl.ds(block * 128 + row, 64), 0:d])
