"""A kernel on arrays whose extents are no multiples of its windows."""

import mlir_smem.language as sl


@sl.kernel("(M,N), (M,N):f32, (M), (N), (M)", sync="manual")
def edges(A, C, R, S, L):
    """C is A + R by rows and S by columns; L is the maximum of each row."""
    M, N = A.shape
    row = sl.grid(sl.cdiv(M, 64)) * 64
    best = sl.full((64,), float("-inf"), sl.f32, axis=1)
    scale = sl.load(R[sl.ds(row, 64)], axis=1, other=7.0)
    for column in range(0, N, 32):
        x = sl.load(A[sl.ds(row, 64), sl.ds(column, 32)], other=float("-inf"))
        best = sl.maximum(best, x.max(axis=1))
        y = sl.load(A[sl.ds(row, 64), sl.ds(column, 32)], rows=M - row, columns=N - column)
        y = y + scale + sl.load(S[sl.ds(column, 32)], axis=0, rows=N - column)
        window = C[sl.ds(row, 64), sl.ds(column, 32)]
        sl.store(y, window, rows=M - row, columns=N - column)
    sl.store(best, L[sl.ds(row, 64)], rows=M - row)
