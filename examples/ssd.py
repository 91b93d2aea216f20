"""The scan of Mamba 2 in chunks (SSD; Dao and Gu, 2024), with the state in registers.

Y[t] is C[t] * S[t] of the states S[t] = exp(a[t]) * S[t - 1] + B[t]^T * X[t].
"""

import mlir_smem.language as sl


@sl.kernel("(H,T,64), (H,T,64), (H,T,64), (H,T):f32, (H,T,64)", fast=True)
def ssd(B, C, X, L, Y, *, stages=2):
    """Compute Y of B, C and X, all (heads, T, 64); T is a multiple of 64.

    L has the sums of a from the first step of a chunk to each of its steps. A CTA computes a head.
    """
    heads, T, _ = B.shape
    head, steps = sl.grid(heads), sl.multiple_of(T, 64) // 64
    b, c, x = (sl.alloc((stages, 64, 64), B.dtype) for _ in range(3))
    before = sl.alloc((64, 64), B.dtype)

    def fetch(k):
        if k < steps:
            rows = sl.ds(k * 64, 64)
            for array, tile in (B, b), (C, c), (X, x):
                sl.copy_async(array[head, rows, :], tile[k % stages])

    fetch(0)
    state = sl.zeros((64, 64), sl.f32)
    for k in range(steps):
        stage, rows = k % stages, sl.ds(k * 64, 64)
        row, column = (sl.load(L[head, rows], axis=axis) for axis in (1, 0))
        last = L[head, k * 64 + 63]
        scores = sl.mma(c[stage], b[stage].T) * sl.exp(row[:, None] - column[None, :])
        scores = sl.where(sl.iota(1) <= sl.iota(0), scores, 0.0)
        sl.store(state, before)
        y = sl.mma(c[stage], before) * sl.exp(row)
        sl.store(sl.mma(scores.to(B.dtype), x[stage], y), Y[head, rows, :])
        decayed = sl.load(b[stage].T) * sl.exp(last - column)
        state = sl.mma(decayed.to(B.dtype), x[stage], state * sl.exp(last))
        fetch(k + 1)
