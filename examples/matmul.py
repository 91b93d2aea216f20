"""C = A * B of row-major matrices, as `matmul.mlir`: four stages, which cp.async fills."""

import mlir_smem.language as sl


@sl.kernel("(M,K), (K,N), (M,N)", warpgroups=2)
def matmul(A, B, C, *, bm=128, bn=256, bk=64):
    """Compute C (M, N) of A (M, K) and B (K, N); their extents are multiples of bm, bn and bk."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (bm, bn, bk))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    column, row, wg_row, steps = x * bn, y * bm, sl.warpgroup_id() * 64, K // bk
    a, b = sl.alloc((4, bm, bk), A.dtype), sl.alloc((4, bk, bn), B.dtype)

    def fetch(k):
        with sl.when(k < steps):
            sl.copy_async(A[row : row + bm, k * bk : k * bk + bk], a[k % 4])
            sl.copy_async(B[k * bk : k * bk + bk, column : column + bn], b[k % 4])

    for k in sl.range(2):
        fetch(k)
    acc = sl.zeros((64, bn), sl.f32)
    for k in sl.range(steps):
        acc = sl.mma(a[k % 4][wg_row : wg_row + 64, :], b[k % 4], acc)
        fetch(k + 2)
    sl.store(acc, C[row + wg_row : row + wg_row + 64, column : column + bn])
