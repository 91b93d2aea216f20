"""Kernels that do not state what their extents are multiples of."""

import mlir_smem.language as sl


def product(copy_a, copy_b):
    """Return a kernel that multiplies A and B, in windows of 64 rows and columns."""

    @sl.kernel("(M,K):(?,1), (K,N):(?,1), (M,N)")
    def matmul(A, B, C):
        (M, K), N = A.shape, B.shape[1]
        x, y = sl.grid(sl.cdiv(M, 64), sl.cdiv(N, 64))
        a, b = sl.alloc((64, 32), A.dtype), sl.alloc((32, 64), B.dtype)
        acc = sl.zeros((64, 64), sl.f32)
        for k in sl.range(0, K, 32):
            copy_a(A[sl.ds(x * 64, 64), sl.ds(k, 32)], a)
            copy_b(B[sl.ds(k, 32), sl.ds(y * 64, 64)], b)
            acc = sl.mma(a, b, acc)
        sl.store(acc, C[sl.ds(x * 64, 64), sl.ds(y * 64, 64)])

    return matmul


def relayout(window, tile):
    sl.copy(window, tile, relayout=True)


@sl.kernel("(M,N), (M,N), (M), (N)")
def add_slices(X, Y, R, C):
    x, y = sl.grid(sl.cdiv(X.shape[0], 64), sl.cdiv(X.shape[1], 32))
    rows, columns = sl.ds(x * 64, 64), sl.ds(y * 32, 32)
    total = sl.load(X[rows, columns]) + sl.load(R[rows], axis=1) + sl.load(C[columns], axis=0)
    sl.store(total, Y[rows, columns])


@sl.kernel("(M), (K), (N), (L)")
def gather(X, index, Y, Z):
    """Y is X at an index, without the first two; Z is X from the first index on."""
    for i in sl.range(0, 70):
        Y[i - 2] = X[index[i].to(sl.index)]
    positions = index[0].to(sl.index) + sl.iota(0)
    sl.store(sl.zeros((64,), sl.f32, axis=1) + X[positions], Z[0:64])
