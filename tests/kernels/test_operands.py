"""Arrays as operands of a GEMM, and the errors of those that do not fit."""

import numpy as np
import pytest

from mlir_smem.kernels.gemm import Problem, ProblemError
from mlir_smem.kernels.gemm.call.operands import check_operands
from mlir_smem.runtime import DeviceArray, Matrix
from mlir_smem.runtime.arguments import DTYPES


def array(shape, element="bf16", strides=None, device=0):
    strides = (shape[-1], 1) if strides is None else strides
    dtype = DTYPES.get(element, element)
    size = dtype.itemsize if isinstance(dtype, np.dtype) else 0
    return DeviceArray(Matrix(0x1000, tuple(shape), tuple(strides), size), dtype, device)


def refusal(*arrays):
    with pytest.raises(ProblemError) as error:
        check_operands(*arrays)
    return str(error.value)


@pytest.mark.parametrize(
    "a_strides, b_strides, majors",
    [
        ((64, 1), (32, 1), ("k", "n")),
        ((1, 128), (32, 1), ("m", "n")),
        ((64, 1), (1, 64), ("k", "k")),
        ((1, 136), (1, 72), ("m", "k")),
    ],
)
def test_majors(a_strides, b_strides, majors):
    a, b = array((128, 64), strides=a_strides), array((64, 32), strides=b_strides)
    operands, _ = check_operands(a, b, array((128, 32)))
    assert (operands.m, operands.n, operands.k) == (128, 32, 64)
    assert (operands.problem.a_major, operands.problem.b_major) == majors


@pytest.mark.parametrize(
    "shape, strides, major",
    [
        ((128, 1), (1, 1), "m"),  # K-major, its rows would begin at multiples of 2 bytes
        ((128, 1), (8, 1), "k"),
        ((1, 64), (64, 1), "k"),
        ((1, 64), (1, 8), "m"),
    ],
)
def test_a_dimension_of_one_element_may_have_any_stride(shape, strides, major):
    m, k = shape
    operands, _ = check_operands(array(shape, strides=strides), array((k, 8)), array((m, 8)))
    assert operands.problem.a_major == major


def test_element_types():
    operands, _ = check_operands(
        array((8, 32), "f8E4M3FN"), array((32, 8), "f8E5M2", (1, 32)), array((8, 8))
    )
    assert operands.problem == Problem("f8E4M3FN", "f8E5M2", "bf16", "k", "k")


A, B, C = array((128, 64)), array((64, 32)), array((128, 32))


@pytest.mark.parametrize(
    "arrays, message",
    [
        ((array((64,), strides=(1,)), B, C), "A has the shape [64]; expected a matrix, or several"),
        (
            (array((2, 128, 64), strides=(8192, 64, 1)), B, C),
            "C is 128x32; expected 2x128x32 for A of 2x128x64 and B of 64x32",
        ),
        (
            (
                array((3, 128, 64), strides=(8192, 64, 1)),
                array((2, 64, 32), strides=(2048, 32, 1)),
                array((3, 128, 32), strides=(4096, 32, 1)),
            ),
            "A has the leading dimensions [3] and B has [2], which do not broadcast: 3 and 2",
        ),
        ((A, array((64, 0)), C), "B has no elements in [64, 0]"),
        (
            (A, array((64, 32), device=1), C),
            "B is on GPU 1, but A is on GPU 0; expected the same GPU",
        ),
        (
            (A, array((32, 64)), C),
            "A is 128x64 and B is 32x64; expected a B of 64 rows, the number of A's columns",
        ),
        ((A, B, array((32, 128))), "C is 32x128; expected 128x32 for A of 128x64 and B of 64x32"),
        (
            (A, B, array((128, 32), strides=(1, 128))),
            "C has the strides [1, 128]; expected contiguous rows",
        ),
        (
            (array((128, 64), strides=(128, 2)), B, C),
            "A has the strides [128, 2] (elements); expected 1 along a dimension",
        ),
        (
            (array((128, 64), "float64"), B, C),
            "A has elements of float64; expected bf16, f16, f32, f8E4M3FN, f8E5M2, i8, ui8",
        ),
        (
            (A, array((64, 32), "f16"), C),
            "A of bf16 and B of f16 do not go together; expected B of bf16",
        ),
        (
            (A, B, array((128, 32), "i32")),
            "a GEMM of bf16 does not store i32; expected bf16 or f32 or f16",
        ),
        (
            (array((128, 64), "i8"), array((64, 32), "ui8"), array((128, 32), "i32")),
            "B of ui8 is N-major; tensor cores read that type K-major only; matmul transposes it",
        ),
    ],
)
def test_operands_that_do_not_fit(arrays, message):
    assert refusal(*arrays).startswith(message)


@pytest.mark.parametrize("majors", [("n", "n"), ("k", "m")])
def test_unknown_majors(majors):
    with pytest.raises(ProblemError, match=r"is [nm]-major; expected k or [mn]"):
        Problem(a_major=majors[0], b_major=majors[1])
