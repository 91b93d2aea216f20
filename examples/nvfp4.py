"""C = alpha * (A * SA) * (B * SB) in NVFP4 on Blackwell, as `nvfp4.mlir`; other formats by constants."""

import mlir_smem.language as sl
from mlir_smem.dialect import ops as smem


@sl.kernel(
    "(M,Kb), (Kb,N):(1,?), (Mb,Kf,32,4,4), (Nb,Kf,32,4,4), (), (M,N):(?,1)",
    warpgroups=2,
)
def nvfp4(A, B, SA, SB, alpha, C, *, element=sl.e2m1, factor=sl.e4m3, step=256, factors=16):
    """Compute C (M, N) of A (M, K) and B (K, N), which hold their elements in bytes.

    Each `step` elements of a row, 128 bytes, have `factors` scale factors. SA and SB are in cuBLAS's
    layout, blocks of 128 rows and 4 factors. M and N are multiples of 128, K of `step`.
    """
    M, N, Kb = sl.multiple_of((*C.shape, A.shape[1]), (128, 128, 128))
    x, y = sl.grid(sl.cdiv(N, 128), sl.cdiv(M, 128))
    column, row, steps = x * 128, y * 128, sl.cdiv(Kb, 128)
    a, b = sl.alloc((4, 128, step), element), sl.alloc((4, step, 128), element)
    sa, sb = sl.alloc((4, 128, factors), factor), sl.alloc((4, 128, factors), factor)
    loads = sl.pipeline(4)

    def product(k, acc=None):
        i = loads.wait(k)
        return sl.mma_scaled(a[i], b[i], sa[i], sb[i], acc)

    with sl.warp_specialize():
        with sl.partition(1), sl.elect(scope="cta"):
            for k in sl.range(steps):
                with loads.producer(k) as stage:
                    k_byte = k * 128
                    sl.tma_load(A[row : row + 128, k_byte : k_byte + 128], a[stage], stage)
                    sl.tma_load(B[k_byte : k_byte + 128, column : column + 128], b[stage], stage)
                    for scales, tile, first in ((SA, sa, row), (SB, sb, column)):
                        sl.op(smem.tma_load, scales, tile[stage], loads, k, (first, k * factors))
        with sl.partition(1):
            acc = product(0)
            for k in sl.range(1, steps):
                acc = product(k, acc)
                loads.release(k - 1)
            loads.release(steps - 1)
            sl.store(acc * alpha, C[row : row + 128, column : column + 128])
