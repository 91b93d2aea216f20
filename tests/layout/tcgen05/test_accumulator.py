"""The layouts of D in tensor memory."""

import numpy as np
import pytest

from mlir_smem.emulator.tcgen05.descriptors import decode_instruction
from mlir_smem.emulator.tcgen05.mma import _cells_of_d
from mlir_smem.layout.tcgen05 import MmaShape, MmaShapeError
from mlir_smem.layout.tcgen05.accumulator import AccumulatorLayout

SHAPES = [
    MmaShape(m, n, ctas)
    for m, ctas in ((64, 1), (128, 1), (128, 2), (256, 2))
    for n in (16, 48, 256)
]


@pytest.mark.parametrize(
    "shape, letter, columns, places",
    [
        # The layouts of the ISA's figures as in CuTe: (row, column), then (CTA, lane, column).
        (
            MmaShape(64, 32),
            "F",
            32,
            {(15, 0): (0, 15, 0), (16, 5): (0, 32, 5), (63, 31): (0, 111, 31)},
        ),
        (MmaShape(128, 256), "D", 256, {(127, 255): (0, 127, 255), (40, 3): (0, 40, 3)}),
        (MmaShape(256, 64, 2), "A", 64, {(127, 9): (0, 127, 9), (128, 63): (1, 0, 63)}),
        (
            MmaShape(128, 64, 2),
            "B",
            32,
            {
                (63, 31): (0, 63, 31),
                (0, 32): (0, 64, 0),
                (64, 0): (1, 0, 0),
                (127, 63): (1, 127, 31),
            },
        ),
    ],
)
def test_layouts_by_their_letters(shape, letter, columns, places):
    layout = AccumulatorLayout(shape)
    assert (layout.letter, layout.columns) == (letter, columns)
    assert {index: layout.place(*index) for index in places} == places


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_emulator_has_d_in_the_same_cells(shape):
    layout = AccumulatorLayout(shape)
    form = decode_instruction(0x10 | shape.n >> 3 << 17 | shape.m >> 4 << 24, "f16", shape.ctas)
    cells = _cells_of_d(None, 0, form, shape.ctas)
    rows = shape.m // shape.ctas
    lanes, columns = np.broadcast_arrays(cells.lanes, cells.columns)
    for row, column in np.ndindex(shape.m, shape.n):
        index = row % rows, column
        assert layout.place(row, column) == (row // rows, lanes[index], columns[index])


@pytest.mark.parametrize(
    "shape, message",
    [
        (
            MmaShape(96, 8),
            "D of 96x8, cta_group::1 has 96 rows; expected one of 256 of cta_group::2, 128 of "
            "cta_group::2, 128 of cta_group::1, 64 of cta_group::1",
        ),
        (
            MmaShape(128, 8, 2),
            "D of 128x8, cta_group::2 has 8 columns; expected a multiple of 16 up to 256",
        ),
        (
            MmaShape(128, 264),
            "D of 128x264, cta_group::1 has 264 columns; expected a multiple of 8 up to",
        ),
    ],
)
def test_no_instruction_has_such_a_d(shape, message):
    with pytest.raises(MmaShapeError) as error:
        AccumulatorLayout(shape)
    assert str(error.value).startswith(message)
