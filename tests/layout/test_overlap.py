"""Elements that share an address, and what every way in says of them."""

import numpy as np
import pytest

from mlir_smem.layout import element, parse_layout
from mlir_smem.layout.overlap import shared_place, sharing


@pytest.mark.parametrize(
    "text, name, problem",
    [
        (
            "Swizzle<3,4,3> o (64,128):(64,1)",
            "bf16",
            "puts the elements [0, 64] and [1, 0] in the same place, byte 0x90",
        ),
        (
            "(4,64,64):(2048,64,1)",
            "bf16",
            "puts the elements [0, 32, 0] and [1, 0, 0] in the same place, byte 0x1000",
        ),
        (
            "(8,64):(31,1)",
            "e2m1",
            "puts the elements [0, 31] and [1, 0] in the same place, byte 0xf, bit 4",
        ),
        (
            "(8,8):(0,1)",
            "bf16",
            "puts the elements [0, 0] and [1, 0] in the same place, byte 0x0; a stride of 0 repeats "
            "elements, which no tile does",
        ),
    ],
)
def test_two_elements_and_their_byte(text, name, problem):
    layout = parse_layout(text, element(name))
    assert layout.overlap_problem() == f"the layout {layout} {problem}"


def test_no_problem():
    assert (
        parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", element("bf16")).overlap_problem() is None
    )


def test_places():
    places = np.array([[0, 1, 2], [3, 1, 3]])
    assert shared_place(places) == ((0, 1), (1, 1))
    assert sharing(places).tolist() == [[False, True, False], [True, True, True]]
    assert shared_place(np.arange(6).reshape(2, 3)) is None
