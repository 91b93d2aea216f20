"""Kernels with numbers of several types, slices along both axes, and reductions of all elements."""

import numpy as np

import mlir_smem.language as sl

RNG = np.random.default_rng(5)


def matrix(rows=64, columns=64):
    return RNG.standard_normal((rows, columns)).astype(np.float32)


@sl.kernel("(M,64), (I,), (1,N), (64,64)")
def numbers(A, P, D, C):
    """Store numbers of indices, of Python, and of the kernel in D, which `expected_numbers` repeats."""
    M, N = A.shape[0], D.shape[1]
    block = sl.block_id(0)
    never = block > 100
    x = sl.load(A[sl.ds(block * 64, 64), :])
    values = [
        *(
            1.0 / M,
            M / 64,
            M / N,
            M * 0.5,
            0.5 - M,
            M.to(sl.f16).to(sl.f32),
            sl.sqrt(M),
            sl.rsqrt(N),
        ),
        *(sl.maximum(M, 0.5), sl.fdiv(M, 4.0), M**0.5, 2.0 ** sl.minimum(M, 3), abs(-M) * 1.0),
        *(A[0, 0] * M, M - A[0, 0], (P[1] + M) * 1.0, (M - P[1]) / 2, (P[2] * block + 1) / 1),
        *((M ^ 3) * 1.0, (~M + (P[2] >> 1)) * 1.0, (-7 % P[2] + M % 48) * 1.0, (~P[2]).to(sl.f32)),
        *(sl.where(M > 64, 2.0, 3), sl.where(M > 3, M, 2.5), sl.where(never, 2, 3.5)),
        *(
            1.0 if never else 0,
            M if never else 0.5,
            0.25 if never else M * 2,
            A[0, 0] if never else 3,
        ),
        *((P[1] if never else M) / 1, P[1].to(sl.f32) if never else M, (5 if never else 7) / 2),
        1.0 if (M > 3) == (N < 3) else 2.0,
        1.0 if never != sl.where(never, False, True) else 2.0,
        *(np.float32(3) * M, M / np.int64(4), sl.where(M == 64.0, 1.0, 0.0)),
    ]
    for i, value in enumerate(values):
        D[0, i] = value
    sl.store((x / M + M) * (1.0 / N) if block < 1 else 0.0, C)


@sl.kernel("(64), (64), (64), (64,64), (64,64), (64,64)")
def outer(R, V, W, X, C, D):
    rows, columns, others = sl.load(R, axis=1), sl.load(V, axis=0), sl.load(W, axis=1)
    sl.store(rows[:, None] - columns[None, :], C)
    x = sl.load(X)
    below = (rows * 2.0)[:, None] < columns[None, :] + 0.5
    y = sl.where(below, others[:, None] * others[:, None], -columns[None, :] * rows[:, None])
    y = y + sl.where(others[:, None] > 0.0, x, columns[None, :]) * sl.where(rows > 0.0, 2, x)
    sl.store(y + others - columns[None, :], D)


@sl.kernel("(M,64), (64,16), (1,16), (1,4):i32", warpgroups=2)
def totals(A, B, D, E):
    x = sl.load(A[sl.ds(sl.warpgroup_id() * 64, 64), :])
    y = sl.load(B)
    reductions = [
        *(
            x.max(warpgroups=2),
            x.min(warpgroups=2),
            x.sum(warpgroups=2),
            y.prod(),
            sl.reduce(y, "maxnumf"),
        ),
        *(x.sum(axis=0).sum(warpgroups=2), x.sum(axis=1).sum(warpgroups=2), (y * 2.0).min()),
    ]
    for i, number in enumerate(reductions):
        D[0, i] = number
    E[0, 0], E[0, 1] = (x * 8.0).to(sl.i32).sum(warpgroups=2), (y * 8.0).to(sl.i32).max()
    sl.store(y / y.sum(), B)
