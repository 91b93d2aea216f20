"""Tiles of a shape and strides."""

import numpy as np
import pytest

from mlir_smem.advisor import strided
from mlir_smem.layout import LayoutError, Swizzle, element, parse_layout

BF16 = element("bf16")


def test_strides_of_elements():
    assert strided((128, 64), (64, 1), BF16) == parse_layout("(128,64):(64,1)", BF16)


def test_strides_of_bytes_are_those_of_numpy():
    array = np.zeros((4, 16, 8), np.uint16).transpose(0, 2, 1)
    tile = strided(array.shape, array.strides, BF16, in_bytes=True)
    assert tile == parse_layout("(4,8,16):(128,1,8)", BF16)


def test_a_swizzle():
    text = "Swizzle<2,4,3> o (8,32):(32,1)"
    assert strided((8, 32), (32, 1), BF16, Swizzle.B64) == parse_layout(text, BF16)


def test_bits():
    assert strided((8, 256), (256, 1), element("b1")).modes[0][0].stride == 256
    assert strided((8, 256), (32, 0), element("b1"), in_bytes=True).modes[0][0].stride == 256


@pytest.mark.parametrize(
    "shape, strides, problem",
    [
        ((8, 8), (8,), "2 extents and 1 strides; expected one for each dimension"),
        ((8,), (1,), "a tile has rows and columns, or stages, rows and columns, not 1 extents"),
        ((8, 8), (17, 2), "a stride of 17 bytes is not a multiple of the 2 bytes of bf16"),
        ((8, 0), (16, 2), "dimension 1 has no valid extents and strides"),
    ],
)
def test_illegal_shapes_and_strides(shape, strides, problem):
    with pytest.raises(LayoutError, match=problem):
        strided(shape, strides, BF16, in_bytes=True)
