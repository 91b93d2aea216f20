"""Layouts inferred from maps: the layout of which a map was made, and maps without a layout."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import STAGES, tiles

from mlir_smem.layout import LayoutError, Mode, Swizzle, element, parse_layout, tile_of_atoms
from mlir_smem.layout.element_map import element_offsets, infer_layouts

BF16 = element("bf16")
ATOMS = tile_of_atoms(BF16, (64, 128), 1, Swizzle.B128)


@given(tiles(STAGES))
def test_places_are_offsets_counted_in_elements(tile):
    assert (element_offsets(tile) * tile.element.bits // 8 == tile.offsets()).all()


@given(tiles(STAGES))
def test_a_tile_of_atoms_is_found(tile):
    best = infer_layouts(element_offsets(tile), tile.element)[0]
    assert (best.wrong, best.first, best.start) == (0, None, 0)
    assert (element_offsets(best.layout) == element_offsets(tile)).all()


@given(tiles(), st.integers(0, 4))
def test_where_it_starts(tile, patterns):
    start = patterns * 1024 * 8 // tile.element.bits
    best = infer_layouts(element_offsets(tile) + start, tile.element)[0]
    assert (best.wrong, best.start) == (0, start)
    assert (element_offsets(best.layout) == element_offsets(tile)).all()


def test_the_modes_are_those_of_the_tile():
    best = infer_layouts(element_offsets(ATOMS), BF16)[0]
    assert best.layout == ATOMS
    assert best.layout.modes[1] == (Mode(64, 1), Mode(2, 4096))


@pytest.mark.parametrize("text", ["(8,64):(64,1)", "((8,2),(8,2)):((8,200),(1,72))"])
def test_a_layout_that_no_instruction_reads_is_found_too(text):
    layout = parse_layout(text, BF16)
    assert infer_layouts(element_offsets(layout), BF16)[0].layout == layout.coalesced()


@given(st.integers(0, 63), st.integers(0, 127))
def test_one_wrong_element_is_found(row, column):
    places = element_offsets(ATOMS)
    expected = int(places[row, column])
    places[row, column] = expected ^ 0x1000
    best = infer_layouts(places, BF16)[0]
    assert best.layout == ATOMS
    assert (best.wrong, best.first) == (1, (row, column))
    assert (best.actual, best.expected) == (expected ^ 0x1000, expected)


def test_elements_may_have_the_same_offset():
    places = np.broadcast_to(np.arange(8), (8, 8))
    best = infer_layouts(places, BF16)[0]
    assert best.wrong == 0 and str(best.layout) == "Swizzle<0,4,3> o (8,8):(0,1)"


def test_a_tile_starts_at_its_pattern():
    best = infer_layouts(element_offsets(parse_layout("(8,8):(8,1)", BF16)) + 4, BF16)[0]
    assert (best.wrong, best.first, best.actual, best.expected) == (64, (0, 0), 4, 0)


@pytest.mark.parametrize(
    "places, problem",
    [
        (np.arange(8), r"a map has rows and columns, or stages in front, not \(8,\)"),
        (np.zeros((0, 8), np.int64), r"not \(0, 8\)"),
        (np.array([[0, 1], [2, -3]]), r"element \(1, 1\) is at -3; expected 0 or more"),
        (np.arange(64)[::-1].reshape(8, 8), "the offsets decrease from one element to the next"),
    ],
)
def test_what_is_no_map(places, problem):
    with pytest.raises(LayoutError, match=problem):
        infer_layouts(places, BF16)
