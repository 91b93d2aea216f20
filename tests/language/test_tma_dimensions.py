"""TMA copies rows and columns of the last two dimensions of an array; others are refused."""

import numpy as np
import pytest

import mlir_smem.language as sl


def copy_head(at):
    """A kernel that copies a head by TMA, and back; `at` takes an array and returns a window."""

    @sl.kernel("(A,B,64):(?,?,1), (A,B,64):(?,?,1)")
    def kernel(X, Y):
        tile, other = (sl.alloc((64, 64), X.dtype) for _ in range(2))
        pipe = sl.pipeline(1)
        with sl.elect(), pipe.producer(0) as stage:
            sl.tma_load(at(X), tile, stage)
        with pipe.consumer(0):
            x = sl.load(tile)
        sl.store(x, other)
        with sl.elect():
            sl.tma_store(other, at(Y))

    return kernel


@pytest.mark.parametrize(
    "at, window, dims",
    [
        (lambda X: X[0:64, 1, :], "64x64", "0, 2"),
        (lambda X: X[0:2, 0:32, :], "2x32x64", "0, 1, 2"),
        (lambda X: X[0, 1, :], "64", "2"),
    ],
)
def test_other_dimensions_than_the_last_two_are_refused(at, window, dims):
    with pytest.raises(sl.TraceError) as error:
        copy_head(at).mlir(sl.f16, sl.f16)
    assert (
        f"TMA copies rows and columns of the last two dimensions, but a window {window} of the array X "
        f"(A, B, 64) of f16 has slices of dimensions {dims} of 3; expected an index for each other "
        "dimension, of a transposed view if need be, with strides in the signature"
    ) in str(error.value)


def test_a_transposed_view_is_copied():
    x = np.random.default_rng(0).standard_normal((64, 2, 64)).astype(np.float16)
    y = np.zeros_like(x)
    kernel = copy_head(lambda X: X[1, 0:64, :])
    kernel[1](x.transpose(1, 0, 2), y.transpose(1, 0, 2), on="cpu")
    assert np.array_equal(y[:, 1], x[:, 1])
    assert not y[:, 0].any()
