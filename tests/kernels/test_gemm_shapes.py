"""GEMMs as text: what is read, and what is said of other text."""

import pytest

from mlir_smem.kernels.gemm import Problem
from mlir_smem.kernels.gemm.tuning.shapes import GemmShape, GemmShapeError, parse_shape, read_shapes

F8 = "f8E4M3FN"


@pytest.mark.parametrize(
    "text, shape",
    [
        ("1x2x3", GemmShape(Problem(), 1, 2, 3)),
        ("8x8x8:f16,f16,f32", GemmShape(Problem("f16", "f16", "f32"), 8, 8, 8)),
        ("8x8x8:bf16,bf16,bf16,NT", GemmShape(Problem(a_major="m", b_major="n"), 8, 8, 8)),
        ("8x8x8:bf16,bf16,bf16,TT", GemmShape(Problem(a_major="m", b_major="k"), 8, 8, 8)),
        ("8x8x8:bf16,bf16,bf16,TN", GemmShape(Problem(b_major="k"), 8, 8, 8)),
        (f"8x8x8:{F8},{F8},bf16", GemmShape(Problem(F8, F8, "bf16", b_major="k"), 8, 8, 8)),
    ],
)
def test_a_shape_is_read(text, shape):
    assert parse_shape(text) == shape


FORM = "expected MxNxK[:A,B,C[,LAYOUT]], for example 4096x4096x4096:bf16,bf16,f32,TN"


@pytest.mark.parametrize(
    "text, message",
    [
        ("8x8", f"'8x8' is no shape; {FORM}"),
        ("8x8x8x8", f"'8x8x8x8' is no shape; {FORM}"),
        ("8x-8x8", f"'8x-8x8' is no shape; {FORM}"),
        ("8x²x8", f"'8x²x8' is no shape; {FORM}"),
        ("", f"'' is no shape; {FORM}"),
        ("8x0x8", "'8x0x8' has an extent of 0; expected 1 or more"),
        ("8x8x8:", f"'8x8x8:' has 1 words after the colon; {FORM}"),
        ("8x8x8:bf16,bf16", f"'8x8x8:bf16,bf16' has 2 words after the colon; {FORM}"),
        (
            "8x8x8:bf16,bf16,bf16,XY",
            "'8x8x8:bf16,bf16,bf16,XY': the layout is 'XY'; expected NN, TN, NT, TT",
        ),
        (
            "8x8x8:bf16,bf16,i32",
            "'8x8x8:bf16,bf16,i32': a GEMM of bf16 does not store i32; expected bf16 or f32 or f16",
        ),
    ],
)
def test_other_text_is_refused(text, message):
    with pytest.raises(GemmShapeError) as error:
        parse_shape(text)
    assert str(error.value) == message


@pytest.mark.parametrize("types", ["f64,f64,f64", f"bf16,{F8},bf16", f"{F8},{F8},bf16,NN"])
def test_a_problem_that_does_not_exist_is_refused(types):
    with pytest.raises(GemmShapeError, match=f"^'8x8x8:{types}': [^\n]*expected|K-major only"):
        parse_shape(f"8x8x8:{types}")


def test_a_file_has_comments_and_empty_lines():
    lines = ["# layers", "", "8x8x8  # a small one", "16x16x16:f16,f16,f16"]
    assert [shape.m for shape in read_shapes(lines, "f")] == [8, 16]


def test_an_error_in_a_file_has_its_line():
    with pytest.raises(GemmShapeError, match=r"^f:3: '8x8' is no shape"):
        list(read_shapes(["# a", "8x8x8", "8x8"], "f"))
