"""C = softmax(A * B) of rows, which stay in registers: C is written once, by TMA.

Up to 256 columns, a warpgroup has whole rows, and the two CTAs of a cluster share B (multicast). With
more, each has half of the columns; they share A, and exchange the maxima and the sums of their rows.
"""

import mlir_smem.language as sl


@sl.kernel("(M,K), (K,n), (M,n)", warpgroups=3, cluster=(2, 1, 1), fast=True)
def softmax(A, B, C, *, n=512, bk=64, stages=3):
    """Compute C (M, n) of A (M, K) and B (K, n).

    M is a multiple of 256 and n of 8; with n from 257 to 512, M of 128 and n of 16.
    """
    M, K = A.shape
    split = n > 256
    width = n // 2 if split else n
    block = sl.grid(sl.cdiv(sl.multiple_of(M, 128 if split else 256), 64 if split else 128))
    rank, row = block % 2, (block // 2 if split else block) * 128
    column = rank * width if split else 0
    a, b = sl.alloc((stages, 128, bk), A.dtype), sl.alloc((stages, bk, width), B.dtype)
    c, exchanged = sl.alloc((2, 128, 64), C.dtype), sl.alloc((2, 128, 8), sl.f32)
    pipe, steps = sl.pipeline(stages, consumers=2), sl.cdiv(K, bk)
    with sl.warp_specialize():
        with sl.partition(1, registers=40):
            with sl.elect():
                for k in range(steps):
                    k_slice, (a_to, b_to) = sl.ds(k * bk, bk), ("x", None) if split else (None, "x")
                    with pipe.producer(k) as stage:
                        sl.tma_load(A[sl.ds(row, 128), k_slice], a[stage], stage, multicast=a_to)
                        sl.tma_load(
                            B[k_slice, sl.ds(column, width)], b[stage], stage, multicast=b_to
                        )
            if split:
                sl.cluster_barrier()
        with sl.partition(2, registers=232) as warpgroup:
            own, acc = sl.ds(warpgroup * 64, 64), sl.zeros((64, width), sl.f32)
            for k in range(steps):
                stage = pipe.wait(k)
                acc = sl.mma(a[stage][own, :], b[stage], acc)
                if k > 0:
                    pipe.release(k - 1)
            pipe.release(steps - 1)
            largest = acc.max(axis=1)
            x = sl.exp(acc - largest)
            total = x.sum(axis=1)
            if split:
                for i, value in enumerate((largest, total)):
                    sl.store(sl.zeros((64, 8), sl.f32) + value, exchanged[i][own, :])
                sl.cluster_barrier()
                other_largest, other_total = (
                    sl.load(exchanged[i][own, :], rank=1 - rank).max(axis=1) for i in (0, 1)
                )
                total = total + other_total * sl.exp(other_largest - largest)
            x = x / total
            for i in range(0, width, 64):  # TMA writes 64 columns while the next ones are computed
                columns = min(64, width - i)
                tile = c[i // 64 % 2][own, 0:columns]
                sl.store(x[:, i : i + columns], tile)
                with sl.elect():
                    window = C[sl.ds(row + warpgroup * 64, 64), sl.ds(column + i, columns)]
                    sl.tma_store(tile, window)
                    sl.tma_commit()
