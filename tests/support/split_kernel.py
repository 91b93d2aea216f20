"""A product in parts: the CTAs along y each store one, and the last one adds all in their order."""

import numpy as np

import mlir_smem.language as sl

TILES, PARTS = 5, 7
EXTENT = 64


@sl.kernel(
    "(T,P,64,64):(?,4096,64,1), (T,P,64,64):(?,4096,64,1), (T,64,64):(4096,64,1), (T,)",
    sync="manual",
)
def sums(A, W, C, S, *, arrive=True):
    """Add P tiles, each of which another CTA has doubled and stored in the workspace W.

    The grid is (T, P). Without `arrive`, the last CTA of the grid adds whatever is in W.
    """
    tile, part = sl.block_id(0), sl.block_id(1)
    parts = A.shape[1]
    sl.store(sl.load(A[tile, part, 0:64, 0:64]) * 2.0, W[tile, part, 0:64, 0:64])
    last = sl.semaphore_arrive(S, tile, parts) if arrive else part == parts - 1
    with sl.when(last):
        total = sl.load(W[tile, 0, 0:64, 0:64])
        for k in sl.range(1, parts):
            total = total + sl.load(W[tile, k, 0:64, 0:64])
        sl.store(total, C[tile, 0:64, 0:64])


def inputs(seed=0):
    """The arguments of `sums`, with parts whose sum depends on the order of the additions."""
    random = np.random.default_rng(seed)
    shape = (TILES, PARTS, EXTENT, EXTENT)
    parts = random.standard_normal(shape) * 10.0 ** random.integers(-4, 5, shape)
    return {
        "A": parts.astype(np.float32),
        "W": np.zeros(shape, np.float32),
        "C": np.zeros((TILES, EXTENT, EXTENT), np.float32),
        "S": np.zeros(TILES, np.int32),
    }


def expected_sums(a):
    """The sums of the doubled parts, added in their order."""
    doubled = a * np.float32(2)
    total = doubled[:, 0].copy()
    for k in range(1, a.shape[1]):
        total += doubled[:, k]
    return total
