"""C = A * B of row-major matrices, as `matmul.mlir`: four stages, which cp.async fills."""

import mlir_smem.language as sl


@sl.kernel("(M,K), (K,N), (M,N)", warpgroups=2)
def matmul(A, B, C, *, bm=128, bn=256, bk=64):
    """Compute C (M, N) of A (M, K) and B (K, N); their extents are multiples of bm, bn and bk."""
    M, N, K = sl.multiple_of((*C.shape, A.shape[1]), (bm, bn, bk))
    x, y = sl.grid(sl.cdiv(N, bn), sl.cdiv(M, bm))
    column, row, wg_row = x * bn, y * bm, sl.warpgroup_id() * 64
    a, b = sl.alloc((bm, bk), A.dtype), sl.alloc((bk, bn), B.dtype)
    acc = sl.zeros((64, bn), sl.f32)
    for k in sl.range(K // bk, stages=4):
        sl.copy(A[row : row + bm, k * bk : k * bk + bk], a)
        sl.copy(B[k * bk : k * bk + bk, column : column + bn], b)
        acc = sl.mma(a[wg_row : wg_row + 64, :], b, acc)
    sl.store(acc, C[row + wg_row : row + wg_row + 64, column : column + bn])
