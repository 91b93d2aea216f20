"""C = softmax(A * B) of rows: when they are multiplied, two warpgroups have whole rows in registers.

The CTAs of a cluster share what TMA loads of B (multicast).
"""

import mlir_smem.language as sl


@sl.kernel("(M,K), (K,n), (M,n)", warpgroups=3, cluster=(2, 1, 1), fast=True)
def softmax(A, B, C, *, n=512, bk=64, stages=3):
    """Compute C (M, n) of A (M, K) and B (K, n); M is a multiple of 128, and n of 16, up to 512."""
    M, K = A.shape
    row = sl.grid(sl.cdiv(sl.multiple_of(M, 128), 64)) * 64
    a, b = sl.alloc((stages, 64, bk), A.dtype), sl.alloc((stages, bk, n), B.dtype)
    pipe, steps = sl.pipeline(stages, consumers=2), sl.cdiv(K, bk)
    with sl.warp_specialize():
        with sl.partition(1, registers=40), sl.elect():
            for k in range(steps):
                with pipe.producer(k) as stage:
                    sl.tma_load(A[row : row + 64, k * bk : k * bk + bk], a[stage], stage)
                    sl.tma_load(B[k * bk : k * bk + bk, 0:n], b[stage], stage, multicast="x")
        with sl.partition(2, registers=232) as warpgroup:
            columns = sl.ds(warpgroup * (n // 2), n // 2)
            acc = sl.zeros((64, n // 2), sl.f32)
            for k in range(steps):
                stage = pipe.wait(k)
                acc = sl.mma(a[stage], b[stage][:, columns], acc)
                if k > 0:
                    pipe.release(k - 1)
            pipe.release(steps - 1)
            x = sl.exp(acc - acc.max(axis=1, warpgroups=2))
            sl.store(x / x.sum(axis=1, warpgroups=2), C[row : row + 64, columns])
