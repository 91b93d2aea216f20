"""Boxes of bulk tensor copies: the addresses that TMA writes are those of the tile's layout."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import anywhere, layouts, tiles

from mlir_smem.layout import (
    ELEMENTS,
    LayoutError,
    Multiple,
    Swizzle,
    TileOrder,
    element,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.layout.tensor_box import MAX_BOX, check_start, share_of, tensor_box
from mlir_smem.layout.uses import BulkUse

BF16 = element("bf16")

#: Where a tile begins in shared memory: a multiple of every pattern.
BASE = 5 * 1024


def written_addresses(box, start, element_type):
    """The address of each element after the copies: int64[rows, columns].

    It follows PTX ISA 9.7.9.27 and the programming guide, and uses nothing of `layout/`: a copy writes
    its lines one after the other from an address, and permutes units of 16 bytes, or 32, by bits of the
    address.

    Args:
        box: the tensor box.
        start: bytes from the tile's start to the copied subtile, before the swizzle.
        element_type: the element type.
    """
    places = np.array(box.places)
    rows, columns = (places.max(axis=0) + box.shape).tolist()
    addresses = np.full((rows, columns), -1, np.int64)
    # Units in a row of the pattern, and their bytes.
    modes = {"none": (0, 16), "32B": (2, 16), "64B": (4, 16), "128B": (8, 16)}
    width, unit = (modes | {"128B_ATOM_32B": (4, 32)})[str(box.swizzle)]
    line, across = (box.shape[box.contiguous], box.shape[1 - box.contiguous])
    for (row, column), offset in zip(box.places, box.offsets, strict=True):
        first = BASE + start + offset * element_type.bits // 8
        assert first % (128 * width or 128) == 0
        along, over = np.arange(line), np.arange(across)[:, None]
        linear = first + (over * line + along) * element_type.bits // 8
        if width:
            linear = linear ^ ((linear >> 7 & width - 1) * unit)
        lines = linear if box.contiguous == 1 else linear.T
        subtile = addresses[row : row + box.shape[0], column : column + box.shape[1]]
        assert (subtile == -1).all()
        subtile[...] = lines
    assert (addresses >= 0).all()
    return addresses


def attempt(find, *arguments):
    """The result of a function, or None if it raises a `LayoutError`."""
    try:
        return find(*arguments)
    except LayoutError:
        return None


def check_box(layout):
    """Check what the box of a layout writes; return whether there is one."""
    box = attempt(tensor_box, layout)
    if box is not None:
        assert max(box.shape) <= MAX_BOX * max(1, 8 // layout.element.bits)
        assert (written_addresses(box, 0, layout.element) == BASE + layout.offsets()).all()
    return box is not None


# Whole tiles.


@pytest.mark.parametrize("element_type", ELEMENTS.values(), ids=str)
@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
def test_tiles_of_whole_atoms_are_copied(element_type, swizzle):
    line = swizzle.atom_elements(element_type)
    for direction, order, atoms, lines in product((0, 1), TileOrder, (1, 3), (8, 64, 320)):
        shape = (lines, atoms * line) if direction == 1 else (atoms * line, lines)
        assert check_box(tile_of_atoms(element_type, shape, direction, swizzle, order)), (
            direction,
            order,
        )


@given(tiles())
def test_a_box_writes_the_elements_of_a_tile_of_atoms(tile):
    check_box(tile)


@given(layouts())
def test_a_box_writes_the_elements_of_any_layout(layout):
    if (
        layout.overlap() is None
        and layout.shape[0] * layout.shape[1] * layout.element.bits % 8 == 0
    ):
        check_box(layout)


@pytest.mark.parametrize(
    "shape, copies",
    # Of 264 rows, 132 would be the largest divisor, but is not a multiple of the pattern's 8 lines.
    [((256, 64), 1), ((512, 64), 2), ((128, 256), 4), ((264, 64), 3), ((44, 64), 1)],
)
def test_as_few_copies_as_can_be(shape, copies):
    assert len(tensor_box(tile_of_atoms(BF16, shape, 1, Swizzle.B128)).places) == copies


def test_a_box_may_have_an_odd_number_of_lines():
    assert tensor_box(parse_layout("(258,64):(64,1)", BF16)).shape == (129, 64)


def test_a_line_of_bits_is_one_of_bytes():
    box = tensor_box(tile_of_atoms(element("b1"), (64, 1024), 1, Swizzle.B128))
    assert box.shape == (64, 1024)


# Subtiles.


@given(tiles(), st.data())
def test_subtiles_are_copied_to_their_place(tile, data):
    spans = [data.draw(anywhere(tile, dim)) for dim in (0, 1)]
    subtile = tile.slice(*zip(*spans, strict=True))
    box = attempt(tensor_box, subtile.layout)
    if box is None or attempt(lambda: check_start(subtile) or True) is None:
        return
    addresses = written_addresses(box, subtile.offset * tile.element.bits // 8, tile.element)
    (row, column), (rows, columns) = zip(*spans, strict=True)
    inside = (slice(row, row + rows), slice(column, column + columns))
    assert (addresses == BASE + tile.offsets()[inside]).all()


STAGES = tile_of_atoms(BF16, (4, 64, 128), 1, Swizzle.B128)


def test_stages_are_copied_to_their_place():
    subtile = STAGES.stage(Multiple(1))
    check_start(subtile)
    for stage in range(4):
        start = subtile.terms[0].at(stage)
        addresses = written_addresses(tensor_box(subtile.layout), start * 2, BF16)
        assert (addresses == BASE + STAGES.offsets()[stage]).all()


# Shares of CTAs.


def check_share(layout, ctas):
    """Check what each CTA writes of a shared copy; return whether CTAs can share it."""
    share = attempt(share_of, layout, ctas)
    if share is None:
        return False
    assert share.extent * ctas == layout.shape[share.dim]
    for cta in range(ctas):
        first = cta * share.extent
        start = share.subtile.offset + sum(term.at(first) for term in share.subtile.terms)
        addresses = written_addresses(share.box, start * layout.element.bits // 8, layout.element)
        inside = [slice(None), slice(None)]
        inside[share.dim] = slice(first, first + share.extent)
        assert (addresses == BASE + layout.offsets()[tuple(inside)]).all()
    return True


@pytest.mark.parametrize("element_type", ELEMENTS.values(), ids=str)
@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
def test_each_cta_copies_its_share(element_type, swizzle):
    line = swizzle.atom_elements(element_type)
    for direction, order, ctas in product((0, 1), TileOrder, (2, 4, 8)):
        shape = (64, 2 * line) if direction == 1 else (2 * line, 64)
        assert check_share(tile_of_atoms(element_type, shape, direction, swizzle, order), ctas), (
            ctas
        )


@given(tiles(), st.integers(2, 8))
def test_shares_are_subtiles_of_the_tile(tile, ctas):
    check_share(tile, ctas)


@pytest.mark.parametrize(
    "shape, dim, copies",
    [
        # Across the lines, where that costs no more copies...
        ((64, 64), 0, 1),
        ((1024, 128), 0, 4),
        # ... and along them, where each CTA has one box of two.
        ((64, 128), 1, 1),
        ((8, 128), 1, 1),
    ],
)
def test_the_dimension_that_leaves_the_fewer_copies_is_divided(shape, dim, copies):
    share = share_of(tile_of_atoms(BF16, shape, 1, Swizzle.B128), 2)
    assert (share.dim, len(share.box.places)) == (dim, copies)


# Refusals.


@pytest.mark.parametrize(
    "text, problem",
    [
        ("(4,64,64):(4096,64,1)", "a tile of rank 3 is copied one stage at a time"),
        ("(64,64):(128,2)", "the tile is contiguous along no dimension; a box has lines"),
        ("(64,4):(4,1)", "a line of 4 elements of bf16 is no multiple of 16 bytes"),
        (
            "(64,64):(72,1)",
            "lines of 64 elements are 72 elements apart; the lines of a tensor map's box are adjacent",
        ),
        (
            "(8,512):(512,1)",
            "lines of 256 elements are 512 elements apart; the lines of a tensor map's box are adjacent",
        ),
        (
            "(12,(8,4)):(8,(1,96))",
            "a box of 12x8 begins 192 bytes into the tile, no multiple of 128",
        ),
        (
            "Swizzle<3,4,3> o (1,128):(0,1)",
            "a box of 1x64 begins 128 bytes into the tile, no multiple of 1024",
        ),
    ],
)
def test_tiles_without_a_box(text, problem):
    with pytest.raises(LayoutError) as error:
        tensor_box(parse_layout(text, BF16))
    assert str(error.value) == problem


def test_padded_tiles_have_no_box():
    with pytest.raises(LayoutError) as error:
        tensor_box(tile_of_atoms(BF16, (64, 72), 1, Swizzle.B128))
    assert str(error.value) == "boxes of 64x64 elements do not divide a tile of 64x72"


def test_subtiles_that_cut_atoms_have_no_box():
    subtile = tile_of_atoms(BF16, (64, 128), 1, Swizzle.B128).slice((0, 32), (64, 64))
    with pytest.raises(LayoutError) as error:
        tensor_box(subtile.layout)
    assert str(error.value) == "the subtile cuts an atom; boxes are whole atoms"


@pytest.mark.parametrize(
    "swizzle, row, multiple, least",
    [
        (Swizzle.B128, 4, 512, 1024),
        (Swizzle.B128, Multiple(1), 128, 1024),
        (Swizzle.B32, 4, 128, 256),
        (Swizzle.NONE, 4, 64, 128),
    ],
)
def test_subtiles_that_begin_inside_a_pattern(swizzle, row, multiple, least):
    tile = tile_of_atoms(BF16, (64, swizzle.atom_elements(BF16)), 1, swizzle)
    subtile = tile.slice((row, 0), (8, tile.shape[1]))
    with pytest.raises(LayoutError) as error:
        check_start(subtile)
    assert str(error.value) == (
        f"the subtile begins at multiples of {multiple} bytes in its tile; TMA needs multiples of {least}"
    )
    check_start(tile.slice((8 if isinstance(row, int) else Multiple(8), 0), (8, tile.shape[1])))


@pytest.mark.parametrize(
    "shape, ctas, problem",
    [
        (
            (33, 64),
            2,
            "2 CTAs cannot share its copy: 33 elements do not divide by 2; the subtile begins at "
            "multiples of 64 bytes in its tile; TMA needs multiples of 1024",
        ),
        (
            (8, 64),
            2,
            "2 CTAs cannot share its copy: the subtile begins at multiples of 512 bytes in its tile; TMA "
            "needs multiples of 1024; the subtile begins at multiples of 64 bytes in its tile; TMA needs "
            "multiples of 1024",
        ),
        (
            (8, 64),
            3,
            "3 CTAs cannot share its copy: 8 elements do not divide by 3; 64 elements do not divide "
            "by 3",
        ),
    ],
)
def test_tiles_that_ctas_cannot_share(shape, ctas, problem):
    with pytest.raises(LayoutError) as error:
        share_of(tile_of_atoms(BF16, shape, 1, Swizzle.B128), ctas)
    assert str(error.value) == problem


# The evaluation of a layout by a bulk copy.


@pytest.mark.parametrize(
    "columns, ctas, reason",
    [
        (64, 1, "one copy of 128x64"),
        (128, 1, "2 copies of 128x64"),
        (64, 2, "one copy of 64x64 in each of 2 CTAs"),
        (128, 2, "one copy of 128x64 in each of 2 CTAs"),
    ],
)
def test_an_evaluation_states_the_copies(columns, ctas, reason):
    tile = tile_of_atoms(BF16, (128, columns), 1, Swizzle.B128)
    assert BulkUse("the copy", 1, ctas).evaluate(tile).reason == reason
