"""Products whose number of K blocks differs from tile to tile, as under a causal mask or in stream-K."""

from types import SimpleNamespace

import numpy as np
from ml_dtypes import bfloat16

import mlir_smem.language as sl

#: The tile of C, and the K of a block.
M, N, DEPTH = 64, 64, 64


def least(count):
    """The count, which the kernel says is 1 or more."""
    return sl.maximum(count, 1)


def triangle(tile):
    """The K blocks of a row of tiles below the diagonal."""
    return tile + 1


def remainder(tile):
    """K blocks that come again."""
    return tile % 2 + 1


def chosen(tile):
    """K blocks by a condition."""
    return least(sl.where(tile < 2, tile, sl.unsigned(4 - tile)))


def products(blocks=triangle, warpgroups=1, peeled=True, **changed):
    """Make the kernel in which each tile of rows of C is a product over its own number of K blocks.

    Args:
        blocks: the number of K blocks, given the tile.
        warpgroups: those that multiply; each has a part of the columns.
        peeled: whether the consumer waits for its first block before the loop over the others.
        changed: what a faulty kernel has otherwise. `start`: the first pipeline index of the consumer;
            `taken`: its K blocks; `step`: what it adds to the index; `released`: whether it releases the
            last stage of a tile; `tiles`: how many tiles more it has; `loaded`: the producer's K blocks.
    """
    how = SimpleNamespace(
        **{"start": 0, "taken": blocks, "step": blocks, "released": True, "tiles": 0}
        | {"loaded": blocks}
        | changed
    )
    width = N // warpgroups

    @sl.kernel("(M,K), (K,N), (M,N)", warpgroups=1 + warpgroups, sync="manual")
    def kernel(A, B, C):
        a, b = sl.alloc((4, M, DEPTH), sl.bf16), sl.alloc((4, DEPTH, N), sl.bf16)
        loads = sl.pipeline(4, consumers=warpgroups)
        tiles = sl.cdiv(A.shape[0], M)
        first_tile, ctas = sl.block_id(0), sl.grid_dim(0)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                index = 0
                for tile in sl.range(first_tile, tiles, ctas):
                    for k in sl.range(how.loaded(tile)):
                        with loads.producer(index + k) as stage:
                            k_slice = sl.ds(k * DEPTH, DEPTH)
                            sl.tma_load(A[sl.ds(tile * M, M), k_slice], a[stage], stage)
                            sl.tma_load(B[k_slice, 0:N], b[stage], stage)
                    index = index + how.loaded(tile)
            with sl.partition(warpgroups) as warpgroup:
                column_slice = sl.ds(warpgroup * width, width)
                index = how.start
                for tile in sl.range(first_tile, tiles + how.tiles, ctas):
                    count = how.taken(tile)
                    if peeled:
                        stage = loads.wait(index)
                        acc = sl.mma(a[stage], b[stage][:, column_slice])
                        for k in sl.range(1, count):
                            stage = loads.wait(index + k)
                            acc = sl.wait(
                                sl.mma(a[stage], b[stage][:, column_slice], acc), pending=1
                            )
                            loads.release(index + k - 1)
                        acc = sl.wait(acc)
                        if how.released:
                            loads.release(index + count - 1)
                    else:
                        acc = sl.zeros((M, width), sl.f32)
                        for k in sl.range(count):
                            with loads.consumer(index + k) as stage:
                                acc = sl.wait(sl.mma(a[stage], b[stage][:, column_slice], acc))
                    sl.store(acc, C[sl.ds(tile * M, M), column_slice])
                    index = index + how.step(tile)

    return kernel


def operands(tiles, seed=0):
    """Integers, whose products and sums are exact."""
    random = np.random.default_rng(seed)
    shapes = (tiles * M, tiles * DEPTH), (tiles * DEPTH, N)
    a, b = (random.integers(-4, 5, shape).astype(bfloat16) for shape in shapes)
    return {"A": a, "B": b, "C": np.zeros((tiles * M, N), np.float32)}


def expected_products(arrays, count):
    """The products, given the K blocks of each tile as numbers."""
    a, b = (arrays[name].astype(np.float32) for name in "AB")
    c = np.zeros_like(arrays["C"])
    for tile in range(len(a) // M):
        rows, k = slice(tile * M, (tile + 1) * M), DEPTH * count(tile)
        c[rows] = a[rows, :k] @ b[:k]
    return c
