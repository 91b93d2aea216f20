"""Grouped products: rows offs[g] to offs[g + 1] of A times matrix g of B, with the pipeline in a branch
or in nested loops that depend on numbers in memory."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from ml_dtypes import bfloat16

import mlir_smem.language as sl

#: The tile of a CTA, and the K of a step.
ROWS, COLUMNS, DEPTH = 64, 64, 64

SIGNATURE = "(T,K), (G,K,N), (O):i32, (T,N)"


def _fill(how, A, B, group, row, column, first, steps):  # noqa: N803
    for k in sl.range(steps):
        with how.pipe.producer(first + k) as stage:
            k_slice = sl.ds(k * DEPTH, DEPTH)
            sl.tma_load(A[sl.ds(row, ROWS), k_slice], how.a[stage], stage)
            sl.tma_load(B[group, k_slice, sl.ds(column, COLUMNS)], how.b[stage], stage)


def _multiply(how, first, steps):
    stage = how.pipe.wait(first)
    acc = sl.mma(how.a[stage], how.b[stage])
    for k in sl.range(1, steps):
        stage = how.pipe.wait(first + k)
        acc = sl.mma(how.a[stage], how.b[stage], acc)
        how.pipe.release(first + k - 1)
    how.pipe.release(first + steps - 1)
    return acc


def _multiply_in_one_loop(how, first, steps):
    acc = sl.zeros((ROWS, COLUMNS), sl.f32)
    for k in sl.range(steps):
        stage = how.pipe.wait(first + k)
        acc = sl.mma(how.a[stage], how.b[stage], acc)
        with sl.when(k > 0):
            how.pipe.release(first + k - 1)
    how.pipe.release(first + steps - 1)
    return acc


def _tiles(A, B):  # noqa: N803
    shared = SimpleNamespace(
        a=sl.alloc((2, ROWS, DEPTH), A.dtype), b=sl.alloc((2, DEPTH, COLUMNS), B.dtype)
    )
    shared.pipe = sl.pipeline(2)
    return shared


@sl.kernel(SIGNATURE, warpgroups=2)
def around(A, B, offs, C):  # noqa: N803
    """A branch around the partitions, and one in the loop that releases stages."""
    G, K, N = sl.multiple_of(B.shape, (1, DEPTH, COLUMNS))  # noqa: N806
    x, y, g = sl.grid(sl.cdiv(N, COLUMNS), sl.cdiv(A.shape[0], ROWS), G)
    first, end = offs[g].to(sl.index) + y * ROWS, offs[g + 1].to(sl.index)
    how = _tiles(A, B)
    with sl.when(first < end), sl.warp_specialize():
        with sl.partition(), sl.elect():
            _fill(how, A, B, g, first, x * COLUMNS, 0, K // DEPTH)
        with sl.partition():
            acc = _multiply_in_one_loop(how, 0, K // DEPTH)
            to = C[sl.ds(first, ROWS), sl.ds(x * COLUMNS, COLUMNS)]
            sl.store(acc, to, rows=end - first)


@sl.kernel(SIGNATURE, warpgroups=2)
def inside(A, B, offs, C):  # noqa: N803
    """The same branch in both partitions."""
    G, K, N = sl.multiple_of(B.shape, (1, DEPTH, COLUMNS))  # noqa: N806
    x, y, g = sl.grid(sl.cdiv(N, COLUMNS), sl.cdiv(A.shape[0], ROWS), G)
    first, end = offs[g].to(sl.index) + y * ROWS, offs[g + 1].to(sl.index)
    how = _tiles(A, B)
    with sl.warp_specialize():
        with sl.partition(), sl.elect(), sl.when(first < end):
            _fill(how, A, B, g, first, x * COLUMNS, 0, K // DEPTH)
        with sl.partition(), sl.when(first < end):
            acc = _multiply(how, 0, K // DEPTH)
            to = C[sl.ds(first, ROWS), sl.ds(x * COLUMNS, COLUMNS)]
            sl.store(acc, to, rows=end - first)


def persistent(consumed=0):
    """Make a kernel whose CTAs take tiles of all groups in turn: its loops have as many iterations as
    numbers in memory say, of which one depends on the sum of those before.

    Args:
        consumed: how many more steps the consumer counts for each tile than there are.
    """

    @sl.kernel(SIGNATURE, warpgroups=2)
    def kernel(A, B, offs, C):  # noqa: N803
        G, K, N = sl.multiple_of(B.shape, (1, DEPTH, COLUMNS))  # noqa: N806
        how, steps, across = _tiles(A, B), K // DEPTH, N // COLUMNS

        def tiles():
            taken, done, ctas = 0, sl.block_id(0) * 0, sl.grid_dim(0)
            for g in sl.range(G):
                begin, end = offs[g].to(sl.index), offs[g + 1].to(sl.index)
                here = sl.cdiv(sl.unsigned(end - begin), ROWS) * across
                first = sl.unsigned(ctas - done % ctas + sl.block_id(0)) % ctas
                for tile in sl.range(first, here, ctas):
                    row = begin + tile // across * ROWS
                    yield g, row, end, tile % across * COLUMNS, taken
                    taken = taken + 1
                done = done + here

        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                for g, row, _, column, taken in tiles():
                    _fill(how, A, B, g, row, column, taken * steps, steps)
            with sl.partition():
                for _, row, end, column, taken in tiles():
                    acc = _multiply(how, taken * (steps + consumed), steps)
                    to = C[sl.ds(row, ROWS), sl.ds(column, COLUMNS)]
                    sl.store(acc, to, rows=end - row)

    return kernel


def operands(sizes, depth=128, columns=64, seed=0):
    """Return integers, whose products and sums are exact, for groups of some numbers of rows."""
    random = np.random.default_rng(seed)
    offs = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return {
        "A": random.integers(-4, 5, (offs[-1], depth)).astype(bfloat16),
        "B": random.integers(-4, 5, (len(sizes), depth, columns)).astype(bfloat16),
        "offs": offs,
        "C": np.zeros((offs[-1], columns), np.float32),
    }


def expected_products(arrays):
    """Return the product of each group."""
    A, B, offs = arrays["A"].astype(np.float32), arrays["B"].astype(np.float32), arrays["offs"]  # noqa: N806
    return np.concatenate([A[i:j] @ b for i, j, b in zip(offs, offs[1:], B, strict=False)])
