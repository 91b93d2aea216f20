"""Kernels that `benchmarks/emulator.py` emulates: warp-specialized, fed by TMA."""

from __future__ import annotations

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np

import mlir_smem.language as sl

BF16 = np.dtype(ml_dtypes.bfloat16)

#: Runs a kernel on the emulator, and checks its result.
Run = Callable[[], np.ndarray]


@sl.kernel("(M,K), (K,N), (N), (M,N)", warpgroups=3)
def gemm_bias_silu(A, B, bias, C, *, bm=128, bn=128, bk=64, stages=4):
    """C = silu(A @ B + bias), persistent; A, B and C are bf16."""
    M, N, K = *C.shape, A.shape[1]
    columns, steps = sl.cdiv(N, bn), sl.cdiv(K, bk)
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    c = sl.alloc((bm, bn), C.dtype)
    pipe = sl.pipeline(stages, consumers=2)

    def tiles():
        count = 0
        for tile in sl.range(sl.block_id(0), sl.cdiv(M, bm) * columns, sl.grid_dim(0)):
            yield tile // columns * bm, tile % columns * bn, count
            count = count + 1

    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for row, column, count in tiles():
                for k in sl.range(steps):
                    with pipe.producer(count * steps + k) as stage:
                        sl.tma_load(A[sl.ds(row, bm), sl.ds(k * bk, bk)], a[stage], stage)
                        sl.tma_load(B[sl.ds(k * bk, bk), sl.ds(column, bn)], b[stage], stage)
        with sl.partition(2, registers=232) as warpgroup:
            rows = sl.ds(warpgroup * 64, 64)
            for row, column, count in tiles():
                stage = pipe.wait(count * steps)
                acc = sl.mma(a[stage][rows, :], b[stage])
                for k in sl.range(1, steps):
                    stage = pipe.wait(count * steps + k)
                    acc = sl.mma(a[stage][rows, :], b[stage], acc)
                    pipe.release(count * steps + k - 1)
                pipe.release(count * steps + steps - 1)
                x = acc + sl.load(bias[sl.ds(column, bn)], axis=0).to(sl.f32)
                sl.store(x / (1.0 + sl.exp(-x)), c[rows, :])
                with sl.elect():
                    sl.tma_store(c[rows, :], C[sl.ds(row + warpgroup * 64, 64), sl.ds(column, bn)])


@sl.kernel("(H,T,64), (H,64,S):(?,1,?), (H,S,64), (), (H,T,64)", warpgroups=3)
def causal_attention(Q, K, V, scale, O, *, bn=128, stages=2):  # noqa: E741
    """O = softmax(Q @ K * scale) @ V for each head, causal; `scale` is in base 2, O is f32."""
    heads, _, dim = Q.shape
    sl.multiple_of(V.shape[1], bn)
    length = sl.multiple_of(O.shape[1], 128)
    block, head = sl.grid(sl.cdiv(length, 128), heads)
    q = sl.alloc((128, dim), Q.dtype)
    k, v = sl.alloc((stages, dim, bn), K.dtype), sl.alloc((stages, bn, dim), V.dtype)
    queries, keys = sl.pipeline(1, consumers=2), sl.pipeline(stages, consumers=2)
    values = sl.pipeline(stages, consumers=2)
    steps = sl.cdiv(block * 128 + 128, bn)
    with sl.warp_specialize():
        with sl.partition(1, registers=24):
            with sl.elect(warp=1), queries.producer(0) as stage:
                sl.tma_load(Q[head, sl.ds(block * 128, 128), :], q, stage)
            with sl.elect():
                for i in sl.range(steps):
                    with keys.producer(i) as stage:
                        sl.tma_load(K[head, :, sl.ds(i * bn, bn)], k[stage], stage)
                    with values.producer(i) as stage:
                        sl.tma_load(V[head, sl.ds(i * bn, bn), :], v[stage], stage)
        with sl.partition(2, registers=240) as warpgroup:
            first = block * 128 + warpgroup * 64
            o, sums = sl.zeros((64, dim), sl.f32), sl.zeros((64,), sl.f32, axis=1)
            largest = sl.full((64,), float("-inf"), sl.f32, axis=1)
            queries.wait(0)
            for i in sl.range(steps):
                with keys.consumer(i) as stage:
                    s = sl.mma(q[sl.ds(warpgroup * 64, 64), :], k[stage]) * scale
                s = sl.where(i * bn + sl.iota(1) <= first + sl.iota(0), s, float("-inf"))
                before, largest = largest, sl.maximum(largest, s.max(axis=1))
                p, shrink = sl.exp2(s - largest), sl.exp2(before - largest)
                sums = sums * shrink + p.sum(axis=1)
                with values.consumer(i) as stage:
                    o = sl.mma(p.to(V.dtype), v[stage], o * shrink)
            queries.release(0)
            sl.store(o / sums, O[head, sl.ds(first, 64), :])


def gemm_run(m: int, n: int, k: int, blocks: int = 2) -> Run:
    """Return a run of `gemm_bias_silu` on random normal bf16."""
    random = np.random.default_rng(0)
    a, b, bias = (random.standard_normal(shape).astype(BF16) for shape in ((m, k), (k, n), (n,)))
    x = a.astype(np.float32) @ b.astype(np.float32) + bias.astype(np.float32)
    exact = x / (1 + np.exp(-x.astype(np.float64)))

    def run() -> np.ndarray:
        c = np.zeros((m, n), BF16)
        gemm_bias_silu[blocks](a, b, bias, c, on="cpu")
        assert np.abs(c.astype(np.float32) - exact).max() <= 2**-7 * np.abs(exact).max()
        return c

    return run


def attention_run(heads: int, length: int) -> Run:
    """Return a run of `causal_attention` on random normal bf16."""
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((heads, length, 64)).astype(BF16) for _ in "QKV")
    scale = 64**-0.5
    wide = [x.astype(np.float32) for x in (q, k, v)]
    scores = np.einsum("hqd,hkd->hqk", wide[0], wide[1]) * scale
    scores[:, ~np.tri(length, dtype=bool)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    exact = weights / weights.sum(axis=-1, keepdims=True) @ wide[2]

    def run() -> np.ndarray:
        o = np.zeros((heads, length, 64), np.float32)
        causal_attention(q, k.transpose(0, 2, 1), v, scale * math.log2(math.e), o, on="cpu")
        assert np.abs(o - exact).max() <= 2**-6 * np.abs(exact).max()
        return o

    return run
