"""Mistakes with fragments and expressions of them."""

import pytest
from kernel_failures import F, failure

import mlir_smem.language as sl
from mlir_smem.bindings import math


def test_positions_have_no_shape():
    def kernel(A, B):
        sl.store(sl.iota(0).to(sl.f32), B[0:64, :])

    assert "an expression of positions and numbers alone has no shape" in failure(kernel)[0]


def test_an_element_type_that_no_accumulator_has():
    def kernel(A, B):
        x = sl.load(A[0:64, :]).to(sl.tf32)
        sl.store(x, B[0:64, :])

    assert (
        "a fragment 64x64 of tf32 is no accumulator; expected f32, f16, i32, bf16"
        in failure(kernel)[0]
    )


def test_a_function_that_integers_do_not_have():
    def kernel(A, B):
        sl.exp(sl.load(A[0:64, :]).to(sl.i32))

    assert failure(kernel)[0] == "elements of i32 have no exp; convert them, by x.to(sl.f32)"


def test_a_function_of_a_tile():
    def kernel(A, B):
        sl.exp(sl.alloc((64, 64), sl.f32))

    assert (
        (failure(kernel)[0])
        == "sl.exp of a tile 64x64 of f32; expected a fragment or a number of the kernel"
    )


def test_a_fraction_meets_integers():
    def kernel(A, B):
        sl.store(sl.load(A[0:64, :]).to(sl.i32) + 0.5, B[0:64, :])

    assert "0.5 is used with i32; expected a whole number, or x.to(sl.f32)" in failure(kernel)[0]


def test_a_slice_of_another_extent():
    def kernel(A, B):
        x = sl.load(A[0:128, :])
        sl.store(sl.load(A[0:64, :]) - x.max(axis=1), B[0:64, :])

    assert failure(kernel)[0] == (
        "a slice of 128 rows of f32 meets a fragment 64x64 of f32; expected a slice with 64 rows"
    )


def test_rows_meet_columns_without_a_matrix():
    def kernel(A, B):
        x = sl.load(A[0:64, :])
        x.max(axis=1) + x.max(axis=0)

    assert failure(kernel)[0] == (
        "a slice of 64 columns of f32 meets a slice of 64 rows of f32; expected two slices along one "
        "axis, or m[:, None] of the rows and n[None, :] of the columns"
    )


def test_positions_that_a_slice_does_not_have():
    def kernel(A, B):
        x = sl.load(A[0:64, :]).max(axis=1)
        (x * sl.iota(1).to(sl.f32)).value

    assert "a slice of 64 rows of f32 has no positions along axis 1" in failure(kernel)[0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.max(axis=1)[0:3], "is indexed; expected m[:, None], or no index"),
        (lambda x: x.max(axis=0)[:, None], "is indexed; expected m[None, :], or no index"),
        (lambda x: x[0, :], "is indexed; expected numbers, x[:, first:last] or x[first:last, :]"),
        (lambda x: x[:, 8:8], "has no rows 0 : 64, columns 8 : 8"),
        (
            lambda x: x[0:32, :],
            "rows 0 : 32 are taken of a fragment 64x64 of f32, where a thread has elements of each 64 "
            "rows; expected 64 rows from a multiple of 64, within 64",
        ),
        (lambda x: x[:, 4:20], "takes tensor<64x16xf32> from column 4"),
        (
            lambda x: x.max(axis=2),
            "is reduced along axis 2; expected 0 (columns), 1 (rows), or none",
        ),
        (
            lambda x: x.max(axis=1).max(axis=1),
            "a slice of 64 rows of f32 is reduced along an axis; expected a matrix, or no axis",
        ),
        (lambda x: sl.iota(2), "positions are along axis 0 (rows) or 1 (columns), not 2"),
        (lambda x: sl.zeros((64,), sl.f32), "a slice of 64 elements needs its axis"),
        (lambda x: sl.where(1.0, 2.0, 3.0), "expected a condition, for example k < n, not 1.0"),
        (lambda x: x + "1", None),
        (lambda x: sl.map(max), "sl.map has no fragment; expected one or more"),
        (
            lambda x: sl.map(math.absf, x, with_position=True, dtype=sl.f32),
            "sl.map takes with_position or dtype; with dtype, give sl.iota",
        ),
        (
            lambda x: sl.map(math.absf, x, dtype=sl.i32).value,
            "the function of sl.map returns f32; expected i32",
        ),
        (lambda x: sl.map(lambda y: None, x, dtype=sl.f32).value, "the result of the function"),
        (lambda x: sl.broadcast(x, 64), "is broadcast; expected a slice, such as x.max(axis=1)"),
    ],
)
def test_fragments(function, expected):
    def kernel(A, B):
        function(sl.load(A[0:64, :]))

    with pytest.raises((sl.TraceError, TypeError)) as caught:
        sl.kernel("(M,64), (M,64)", sync="manual")(kernel).trace(F, F)
    if expected:
        assert expected in str(caught.value)
