"""C = A * B by TMA: persistent, warp-specialized, with an epilogue that overlaps the next tile.

The kernel is that of `mlir_smem.kernels.gemm`, as CUTLASS's `KernelTmaWarpSpecializedCooperative`. A
call gives the grid: as many CTAs as run at the same time, or fewer if C has fewer tiles.
"""

import mlir_smem.language as sl


@sl.kernel("(M,K):(?,1), (K,N):(?,1), (M,N):(?,1)", warpgroups=3)
def gemm(A, B, C, *, bm=128, bn=256, bk=64, stages=4, group=16, width=128, buffers=2):
    """Compute C (M, N) of A (M, K) and B (K, N), of any extents.

    A CTA computes tiles of bm x bn, with `stages` blocks of bk along K in shared memory. It takes `group`
    rows of tiles at a time, whose A and B the L2 holds. Two warpgroups multiply, half the rows each, and
    store `width` columns at a time to one of `buffers` buffers, which a thread stores to C.
    """
    rows, parts = bm // 2, bn // width
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    loads, steps = sl.pipeline(stages, consumers=2), sl.cdiv(A.shape[1], bk)
    c, stores = sl.alloc((buffers, rows, width), C.dtype), sl.pipeline(2 * parts)
    tiles_m, tiles_n = sl.cdiv(C.shape[0], bm), sl.cdiv(C.shape[1], bn)

    def tiles():  # the first row and column of each tile of the CTA, and its number
        number = 0
        for tile in sl.range(sl.block_id(0), tiles_m * tiles_n, sl.grid_dim(0)):
            first = tile // (group * tiles_n) * group
            height = sl.minimum(sl.unsigned(tiles_m - first), group)
            within = tile % (group * tiles_n)
            yield (first + within % height) * bm, within // height * bn, number
            number = number + 1

    with sl.warp_specialize():
        with sl.partition(1, registers=40):
            with sl.elect():
                for row, column, number in tiles():
                    for k in sl.range(steps):
                        with loads.producer(number * steps + k) as stage:
                            k_slice = sl.ds(k * bk, bk)
                            sl.tma_load(A[row : row + bm, k_slice], a[stage], stage)
                            sl.tma_load(B[k_slice, column : column + bn], b[stage], stage)
            with sl.elect(warp=1):
                stores.commit(0)
                for row, column, number in tiles():
                    for i in sl.range(2 * parts):
                        index = number * (2 * parts) + i
                        stores.acquire(index + 2 * parts)
                        at_m = sl.ds(row + i // parts * rows, rows)
                        at_n = sl.ds(column + i % parts * width, width)
                        sl.tma_store(c[index % buffers], C[at_m, at_n])
                        stores.commit(index + buffers - 1)
        with sl.partition(2, registers=232) as warpgroup:
            half = sl.ds(warpgroup * rows, rows)

            def product(index, acc=None):
                stage = loads.wait(index)
                return sl.mma(a[stage][half, :], b[stage], acc)

            for _, _, number in tiles():
                acc = product(number * steps)
                for k in sl.range(1, steps):
                    acc = product(number * steps + k, acc)
                    loads.release(number * steps + k - 1)
                loads.release(number * steps + steps - 1)
                for i in range(parts):
                    index = (number * 2 + warpgroup) * parts + i
                    with stores.consumer(index):
                        sl.store(acc[:, i * width : (i + 1) * width], c[index % buffers])
