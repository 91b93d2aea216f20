"""Traced kernels that are called."""

import mlir_smem.language as sl


@sl.kernel("(M,N):(?,1), (M,N):(?,1)", sync="manual")
def copied(X, Y):  # noqa: N803
    """Copy a matrix by TMA, in boxes of 64x64."""
    x, y = sl.grid(sl.cdiv(X.shape[1], 64), sl.cdiv(X.shape[0], 64))
    row, column = y * 64, x * 64
    tile, pipe = sl.alloc((1, 64, 64), X.dtype), sl.pipeline(1)
    with sl.elect(), pipe.producer(0) as stage:
        sl.tma_load(X[row : row + 64, column : column + 64], tile[stage], stage)
    with pipe.consumer(0) as stage, sl.elect():
        sl.tma_store(tile[stage], Y[row : row + 64, column : column + 64])
        sl.tma_commit()
        sl.tma_wait()
