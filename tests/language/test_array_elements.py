"""Elements of arrays at positions, such as `bias[column + sl.iota(1)]`, on the emulator against NumPy."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.dialect import new_context

RNG = np.random.default_rng(7)


def matrix(rows=64, columns=64):
    return RNG.standard_normal((rows, columns)).astype(np.float32)


def test_elements_of_arrays_at_positions():
    """A vector along the columns, one along the rows, and a matrix, read element by element."""

    @sl.kernel("(64,64), (N), (64), (R,C), (64,64)", sync="manual", contract=False)
    def shift(X, V, W, Y, D):
        row, column = sl.iota(0), sl.iota(1)
        last = V.shape[0] - 1
        x = sl.load(X) + V[sl.minimum(column, last)].to(sl.f32) * W[row]
        sl.store(x - Y[row + 1, column * 2], D)

    x, y = matrix(), matrix(65, 128)
    v, w = RNG.standard_normal(40).astype(ml_dtypes.bfloat16), matrix(1, 64)[0]
    d = np.zeros_like(x)
    shift[(1,)](x, v, w, y, d, on="cpu")
    columns = v.astype(np.float32)[np.minimum(np.arange(64), 39)]
    assert (d == x + columns * w[:, None] - y[1:, ::2]).all()


def test_an_element_of_an_array_at_a_position_and_an_index():
    @sl.kernel("(64,64), (3,64), (64,64)", sync="manual")
    def select(X, V, D):
        sl.store(sl.load(X) + V[sl.block_id(0), sl.iota(1)], D)

    x, v = matrix(), matrix(3, 64)
    d = np.zeros_like(x)
    select[(1,)](x, v, d, on="cpu")
    assert (d == x + v[0]).all()


def test_kernels_that_read_elements_are_proven():
    @sl.kernel("(64,64), (64), (64,64)")
    def add_bias(X, V, D):
        sl.store(sl.load(X) + V[sl.iota(1)], D)

    assert not add_bias.check(sl.f32, sl.f32, sl.f32)


@pytest.mark.parametrize(
    "index, message",
    [
        (lambda x: (sl.iota(0), x), "a fragment 64x64 of f32"),
        (lambda x: (sl.iota(0), slice(0, 64)), "slice(0, 64, None)"),
    ],
)
def test_indices_that_are_no_positions(index, message):
    @sl.kernel("(64,64), (64,64)", sync="manual")
    def wrong(X, D):
        x = sl.load(X)
        sl.store(x + X[index(x)], D)

    with pytest.raises(sl.TraceError) as error:
        wrong.mlir(sl.f32, sl.f32)
    assert (
        f"the array X (64, 64) of f32 is indexed by {message} and by positions; expected an index for "
        "each dimension"
    ) in str(error.value)


def test_full_reads_array_elements_where_it_stands():
    """Its loads come before a barrier; those of an expression are where it is used."""

    @sl.kernel("(64,64), (M), (64,64)", sync="manual")
    def add(X, V, D):
        read = sl.full((64,), V[sl.minimum(sl.iota(1) + 3, V.shape[0] - 1)], sl.f32, axis=0)
        sl.barrier()
        sl.store(sl.load(X) + read, D)

    x, v, d = matrix(), matrix(1, 50)[0], matrix()
    with new_context():
        text = str(add.trace(x, v, d))
    assert text.index("memref.load") < text.index("gpu.barrier")
    add[(1,)](x, v, d, on="cpu")
    assert (d == x + v[np.minimum(np.arange(64) + 3, 49)]).all()


def test_full_of_positions():
    @sl.kernel("(64,64)", sync="manual")
    def enumerate_elements(D):
        sl.store(sl.full((64, 64), (sl.iota(0) * 64 + sl.iota(1)).to(sl.f32), sl.f32), D)

    d = matrix()
    enumerate_elements[(1,)](d, on="cpu")
    assert (d.ravel() == np.arange(64 * 64)).all()


@pytest.mark.parametrize(
    "number, message",
    [
        (lambda x: x * 2.0, "a fragment 64x64 of f32 has a shape; expected positions and numbers"),
        (lambda x: sl.iota(1), "elements of index are used as f32"),
        (lambda x: sl.iota(0).to(sl.f32), "a slice without axis 0 has no positions along axis 0"),
    ],
)
def test_full_of_another_expression(number, message):
    @sl.kernel("(64,64), (64,64)", sync="manual")
    def wrong(X, D):
        x = sl.load(X)
        sl.store(x + sl.full((64,), number(x), sl.f32, axis=0), D)

    with pytest.raises(sl.TraceError, match=message):
        wrong.trace(matrix(), matrix())
