"""Tile layouts: their map, their slices and layouts derived from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NO_STAGES, STAGES, layouts, spans, tiles

from mlir_smem.layout import (
    ELEMENTS,
    LayoutError,
    Mode,
    Multiple,
    Swizzle,
    TileLayout,
    element,
    parse_layout,
    tile_of_atoms,
)

BF16 = element("bf16")
TILE = tile_of_atoms(BF16, (64, 256), 1, Swizzle.B128)


def box(starts, sizes):
    """The index of a subtile, for NumPy."""
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))


# Properties.


def test_linear_runs_through_the_modes_innermost_first():
    tile = parse_layout("((2,2),3):((1,100),10)", BF16)
    assert tile.linear().tolist() == [[0, 10, 20], [1, 11, 21], [100, 110, 120], [101, 111, 121]]


def test_offsets_are_swizzled_bytes():
    tile = tile_of_atoms(BF16, (8, 64), 1, Swizzle.B128)
    assert tile.offsets()[1, :16].tolist() == [*range(144, 160, 2), *range(128, 144, 2)]


def test_eight_elements_of_b1_share_a_byte():
    tile = tile_of_atoms(element("b1"), (8, 128), 1, Swizzle.NONE)
    assert tile.offsets()[1, :24].tolist() == [16] * 8 + [17] * 8 + [18] * 8


@pytest.mark.parametrize(
    "text, shape, size",
    [
        ("(8,8):(8,1)", (8, 8), 128),
        ("(3,3):(3,1)", (3, 3), 32),
        ("Swizzle<3,4,3> o (2,8):(64,1)", (2, 8), 256),
        ("((8,2),64):((64,512),1)", (12, 64), 2048),
    ],
)
def test_size_counts_whole_rows_of_the_swizzle(text, shape, size):
    assert parse_layout(text, BF16, shape).size_bytes == size


@pytest.mark.parametrize("swizzle", Swizzle, ids=str)
def test_alignment_is_the_pattern(swizzle):
    assert tile_of_atoms(BF16, (8, 64), 1, swizzle).alignment == swizzle.pattern_bytes


@pytest.mark.parametrize(
    "text, dim",
    [
        ("(8,16):(16,1)", 1),
        ("(8,16):(1,8)", 0),
        ("(8,16):(2,16)", None),
        ("(1,16):(1,2)", None),
        ("((1,8),16):((0,1),8)", 0),
    ],
)
def test_contiguous_dim(text, dim):
    assert parse_layout(text, BF16).contiguous_dim == dim


def test_overlap_names_two_elements_in_one_place():
    assert parse_layout("(4,4):(2,1)", BF16).overlap() == ((0, 2), (1, 0))


def test_a_stride_of_0_overlaps():
    assert parse_layout("(2,4):(0,1)", BF16).overlap() == ((0, 0), (1, 0))


@given(layouts())
def test_overlap_is_found_exactly_when_there_is_one(tile):
    overlap = tile.overlap()
    assert (overlap is None) == (len(np.unique(tile.linear())) == tile.linear().size)
    if overlap:
        assert overlap[0] != overlap[1]
        assert tile.linear()[overlap[0]] == tile.linear()[overlap[1]]


# Derived layouts.


@given(layouts())
def test_coalesced_is_the_same_map(tile):
    assert np.array_equal(tile.coalesced().linear(), tile.linear())


@given(layouts())
def test_coalesced_is_a_fixed_point(tile):
    assert tile.coalesced().coalesced() == tile.coalesced()


def test_coalesced_merges_modes_that_follow_each_other():
    tile = parse_layout("((8,4),(4,2,2)):((4,32),(1,200,400))", BF16)
    assert str(tile.coalesced()) == "Swizzle<0,4,3> o (32,(4,4)):(4,(1,200))"


def test_coalesced_has_one_form_for_a_single_element():
    assert tile_of_atoms(BF16, (1, 64), 1, Swizzle.B128) == parse_layout(
        "Swizzle<3,4,3> o (1,64):(0,1)", BF16
    )


def test_coalesced_drops_modes_that_the_extent_does_not_reach():
    tile = TileLayout(BF16, (5, 2), ((Mode(8, 1), Mode(4, 100), Mode(1, 0)), (Mode(2, 9),)))
    assert str(tile.coalesced()) == "Swizzle<0,4,3> o (5,2):(1,9)"


@given(layouts())
def test_transposed_exchanges_rows_and_columns(tile):
    assert np.array_equal(tile.transposed().linear(), tile.linear().T)


def test_transposed_leaves_stages_in_front():
    tile = tile_of_atoms(BF16, (2, 8, 64), 1, Swizzle.B128)
    assert tile.transposed().shape == (2, 64, 8)
    assert np.array_equal(tile.transposed().linear(), tile.linear().swapaxes(1, 2))


# Slices.


@given(st.data(), tiles(NO_STAGES | STAGES))
def test_a_static_slice_is_the_tile_restricted(data, tile):
    starts, sizes = zip(*(data.draw(spans(tile, d)) for d in range(len(tile.shape))), strict=True)
    subtile = tile.slice(starts, sizes)
    assert not subtile.terms
    assert np.array_equal(
        subtile.layout.linear() + subtile.offset, tile.linear()[box(starts, sizes)]
    )


@given(st.data(), tiles())
def test_a_slice_of_a_slice_is_a_slice(data, tile):
    starts, sizes = zip(*(data.draw(spans(tile, d)) for d in range(2)), strict=True)
    outer = tile.slice(starts, sizes)
    inner = [data.draw(spans(outer.layout, d)) for d in range(2)]
    subtile = outer.then(outer.layout.slice(*zip(*inner, strict=True)))
    starts = [start + more for start, (more, _) in zip(starts, inner, strict=True)]
    moved = subtile.layout.linear() + subtile.offset
    assert np.array_equal(moved, tile.linear()[box(starts, subtile.layout.shape)])


@st.composite
def multiples(draw, tile, dim):
    """(divisor, size): subtiles of that size at run-time multiples of `divisor` never cut an atom."""
    extent, modes = tile.shape[dim], tile.coalesced().modes[dim]
    atom = modes[0].extent if len(modes) > 1 else extent
    divisors = [d for d in range(1, atom + 1) if atom % d == 0]
    if draw(st.booleans()):
        divisor = draw(st.sampled_from(divisors))
        return divisor, draw(st.integers(1, min(divisor, extent)))
    return atom * draw(st.integers(1, 3)), draw(st.integers(1, extent))


@given(st.data(), tiles())
def test_a_run_time_slice_is_each_static_one(data, tile):
    (row_of, rows), (column_of, columns) = (data.draw(multiples(tile, d)) for d in range(2))
    subtile = tile.slice((Multiple(row_of), Multiple(column_of)), (rows, columns))
    assert subtile.offset == 0
    for row in range(0, tile.shape[0] - rows + 1, row_of):
        for column in range(0, tile.shape[1] - columns + 1, column_of):
            static = tile.slice((row, column), (rows, columns))
            assert static.layout == subtile.layout
            assert static.offset == sum(t.at((row, column)[t.dim]) for t in subtile.terms)


@given(st.data(), tiles())
def test_a_run_time_offset_is_a_multiple_of_the_slices_divisor(data, tile):
    (row_of, rows), (column_of, columns) = (data.draw(multiples(tile, d)) for d in range(2))
    subtile = tile.slice((Multiple(row_of), Multiple(column_of)), (rows, columns))
    row = data.draw(st.integers(0, (tile.shape[0] - rows) // row_of)) * row_of
    column = data.draw(st.integers(0, (tile.shape[1] - columns) // column_of)) * column_of
    offset = sum(t.at((row, column)[t.dim]) for t in subtile.terms)
    assert offset == 0 if subtile.multiple == 0 else offset % subtile.multiple == 0


@pytest.mark.parametrize(
    "starts, multiple", [((0, 0), 0), ((8, 0), 512), ((8, 24), 536), ((8, Multiple(16)), 16)]
)
def test_multiple_divides_every_offset(starts, multiple):
    assert TILE.slice(starts, (8, 16)).multiple == multiple


def test_a_run_time_slice_inside_an_atom_needs_a_term_for_each_mode():
    subtile = TILE.slice((0, Multiple(16)), (64, 16))
    assert [(t.divisor, t.modulus, t.stride) for t in subtile.terms] == [
        (1, 64, 1),
        (64, None, 4096),
    ]


def test_a_run_time_slice_of_whole_atoms_needs_one_term():
    subtile = TILE.slice((0, Multiple(128)), (64, 128))
    assert [(t.divisor, t.modulus, t.stride) for t in subtile.terms] == [(64, None, 4096)]


@pytest.mark.parametrize("divisor, size", [(24, 8), (12, 4)])
def test_a_run_time_slice_may_begin_at_multiples_that_do_not_divide_the_atom(divisor, size):
    tile = parse_layout("((8,4,4),16):((1,100,1000),50)", BF16)
    subtile = tile.slice((Multiple(divisor), 0), (size, 16))
    for start in range(0, 128 - size + 1, divisor):
        assert tile.slice((start, 0), (size, 16)).offset == sum(t.at(start) for t in subtile.terms)


@given(st.data(), tiles(STAGES))
def test_a_stage_is_the_tile_without_its_leading_dimension(data, tile):
    index = data.draw(st.integers(0, tile.shape[0] - 1))
    subtile = tile.stage(index)
    assert np.array_equal(subtile.layout.linear() + subtile.offset, tile.linear()[index])


@given(tiles(STAGES))
def test_a_run_time_stage_is_each_static_one(tile):
    subtile = tile.stage(Multiple(1))
    for index in range(tile.shape[0]):
        assert tile.stage(index).layout == subtile.layout
        assert tile.stage(index).offset == sum(t.at(index) for t in subtile.terms)


# Refusals.


def test_rank_of_shape_and_modes():
    with pytest.raises(LayoutError, match="a layout of rank 1 does not fit a tile of rank 2"):
        TileLayout(BF16, (8, 8), ((Mode(8, 1),),))


@pytest.mark.parametrize(
    "shape, modes",
    [
        ((0,), ((Mode(0, 1),),)),
        ((0,), ((Mode(8, 1),),)),
        ((8,), ((),)),
        ((8,), ((Mode(8, -1),),)),
        ((8,), ((Mode(-8, 1), Mode(-1, 8)),)),
    ],
)
def test_extents_and_strides_are_valid(shape, modes):
    with pytest.raises(LayoutError, match="dimension 0 has no valid extents and strides"):
        TileLayout(BF16, shape, modes)


@pytest.mark.parametrize("extent", [17, 8])
def test_modes_cover_the_extent_without_atoms_to_spare(extent):
    with pytest.raises(LayoutError, match=f"dimension 1 has {extent} elements, but .* cover 16"):
        TileLayout(BF16, (2, extent), ((Mode(2, 16),), (Mode(8, 1), Mode(2, 64))))


def test_a_slice_has_the_rank_of_the_tile():
    with pytest.raises(LayoutError, match="of rank 2 takes 2 starts and sizes, not 1 and 3"):
        TILE.slice((0,), (1, 2, 3))


@pytest.mark.parametrize("size", [0, 65])
def test_a_slice_is_not_empty_and_not_larger_than_the_tile(size):
    message = f"a slice of {size} elements does not fit dimension 0 of 64"
    with pytest.raises(LayoutError, match=message):
        TILE.slice((0, 0), (size, 256))


@pytest.mark.parametrize("start, last", [(-8, 55), (8, 71)])
def test_a_slice_is_inside_the_tile(start, last):
    message = f"elements {start} to {last} are not inside dimension 0 of 64"
    with pytest.raises(LayoutError, match=message):
        TILE.slice((start, 0), (64, 64))


def test_a_run_time_start_is_a_multiple_of_something():
    with pytest.raises(LayoutError, match="multiple of 0"):
        TILE.slice((0, Multiple(0)), (64, 8))


def test_every_element_type_has_the_same_map_in_elements():
    maps = [
        parse_layout("((8,2),16):((1,128),8)", element_type).linear()
        for element_type in ELEMENTS.values()
    ]
    assert all(np.array_equal(maps[0], other) for other in maps)
