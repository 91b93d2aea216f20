"""Tiles of atoms: no two elements share bits, and atoms are in the tile's order."""

from itertools import product

import numpy as np
import pytest
from each import for_each
from hypothesis import given
from strategies import NO_STAGES, STAGES, swizzles, tile_orders, tiles

from mlir_smem.layout import ELEMENTS, LayoutError, Swizzle, TileOrder, element, tile_of_atoms
from mlir_smem.layout.atoms import padding

BF16 = element("bf16")


def bits_of(tile):
    """The offset of each element's first bit."""
    return tile.offsets() * 8 + tile.linear() * tile.element.bits % 8


@given(tiles(NO_STAGES | STAGES))
def test_elements_have_bits_of_their_own_inside_the_tile(tile):
    bits = bits_of(tile)
    assert len(np.unique(bits)) == bits.size
    assert bits.min() >= 0
    assert bits.max() + tile.element.bits <= 8 * tile.size_bytes
    assert np.all(bits % tile.element.bits == 0)


@given(tiles(NO_STAGES | STAGES))
def test_padding_is_what_no_element_fills(tile):
    assert padding(tile) * 8 == tile.size_bytes * 8 - bits_of(tile).size * tile.element.bits


@for_each("case", [*product(ELEMENTS.values(), (0, 1), Swizzle, TileOrder)])
def test_whole_atoms_fill_every_bit(case):
    element_type, contiguous, swizzle, order = case
    line = swizzle.atom_elements(element_type)
    shape = (2 * line, 24) if contiguous == 0 else (24, 2 * line)
    bits = bits_of(tile_of_atoms(element_type, (2, *shape), contiguous, swizzle, order))
    assert np.array_equal(np.sort(bits.ravel()), np.arange(bits.size) * element_type.bits)


@given(tiles())
def test_16_bytes_along_the_contiguous_dimension_stay_together(tile):
    unit = tile.element.unit
    along = tile if tile.coalesced().modes[1][0].stride == 1 else tile.transposed()
    columns = min(unit, along.shape[1])
    linear = along.linear()[:, :columns]
    assert np.array_equal(linear - linear[:, :1], np.broadcast_to(np.arange(columns), linear.shape))
    assert np.all(linear[:, 0] % unit == 0)


@pytest.mark.parametrize("order", TileOrder)
def test_an_atom_is_eight_lines_in_a_row(order):
    tile = tile_of_atoms(BF16, (16, 128), 1, Swizzle.B128, order)
    atom = tile.slice((8, 64), (8, 64))
    assert str(atom.layout) == "Swizzle<3,4,3> o (8,64):(64,1)"
    assert atom.offset % 512 == 0


def test_tile_orders():
    across, along = (tile_of_atoms(BF16, (64, 256), 1, Swizzle.B128, order) for order in TileOrder)
    assert str(across) == "Swizzle<3,4,3> o (64,(64,4)):(64,(1,4096))"
    assert str(along) == "Swizzle<3,4,3> o ((8,8),(64,4)):((64,2048),(1,512))"


@given(tile_orders, swizzles)
def test_rows_contiguous_is_columns_contiguous_transposed(order, swizzle):
    rows = tile_of_atoms(BF16, (72, 24), 0, swizzle, order)
    assert rows == tile_of_atoms(BF16, (24, 72), 1, swizzle, order).transposed()


@given(tiles(STAGES))
def test_stages_begin_at_whole_patterns(tile):
    starts = [tile.stage(i).offset * tile.element.bits // 8 for i in range(tile.shape[0])]
    assert all(start % tile.alignment == 0 for start in starts)


def test_stages_of_a_padded_tile_are_whole_atoms_apart():
    tile = tile_of_atoms(BF16, (3, 12, 40), 1, Swizzle.B128)
    assert [tile.stage(i).offset * 2 for i in range(3)] == [0, 2048, 4096]


def test_padding_of_part_of_a_line():
    assert padding(tile_of_atoms(BF16, (8, 64), 1, Swizzle.B128)) == 0
    assert padding(tile_of_atoms(BF16, (8, 40), 1, Swizzle.B128)) == 8 * 24 * 2


@pytest.mark.parametrize("shape", [(64,), (2, 2, 8, 64)])
def test_a_tile_has_rows_and_columns(shape):
    with pytest.raises(LayoutError, match=f"a tile has rank 2, or 3 with stages, not {len(shape)}"):
        tile_of_atoms(BF16, shape, 1, Swizzle.B128)


def test_a_tile_is_not_empty():
    with pytest.raises(LayoutError, match="dimension 0 has no valid extents and strides"):
        tile_of_atoms(BF16, (0, 64), 1, Swizzle.B128)
