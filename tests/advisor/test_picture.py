"""Pictures of layouts: every cell is drawn where `offsets` has its elements."""

import re

import numpy as np
import pytest
from drawn import check_positions, read
from hypothesis import given, settings
from strategies import layouts, tiles

from mlir_smem.advisor.pictures import Color, Outline, Picture, View, side_by_side, svg
from mlir_smem.layout import (
    FORMS,
    LayoutError,
    Major,
    Mode,
    Multiple,
    Role,
    Swizzle,
    TileLayout,
    element,
    parse_layout,
    tile_of_atoms,
)

BF16 = element("bf16")
TILE = tile_of_atoms(BF16, (16, 64), 1, Swizzle.B128)

views = pytest.mark.parametrize("view", View, ids=lambda view: view.value)


@views
@settings(max_examples=25, deadline=None)
@given(layout=tiles())
def test_cells_are_drawn_at_their_offsets(view, layout):
    picture = Picture(layout, view=view, lines=2000)
    (cells,) = read(picture._repr_svg_())
    count = check_positions(cells, picture)
    assert count == len(picture.cells.address) or picture.grid.cut_note


@views
@settings(max_examples=25, deadline=None)
@given(layout=layouts())
def test_overlapping_layouts_have_a_note(view, layout):
    try:
        picture = Picture(layout, view=view, lines=2000)
        text = picture._repr_svg_()
    except LayoutError as error:
        assert "in a byte are not contiguous" in str(error)
        return
    (cells,) = read(text)
    count = check_positions(cells, picture)
    if view is View.MEMORY:
        assert count == len(picture.cells.address) - picture.collisions
        assert (picture.collisions > 0) == ("have the address of another cell" in text)


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda f: f"{f.major}-{f.swizzle}")
@pytest.mark.parametrize("elements", [False, True])
@views
def test_the_canonical_forms(form, elements, view):
    k = 1 if form.major is Major.K else 2
    layout = form.layout(BF16, 2, k, lbo=1024, sbo=2048)
    picture = Picture(layout, view=view, elements=elements, lines=200)
    (cells,) = read(picture._repr_svg_())
    assert check_positions(cells, picture) == len(picture.cells.address)


def test_all_elements_are_in_the_cells():
    assert Picture(TILE).cells.extent == (1, 8)
    assert Picture(TILE.transposed()).cells.extent == (8, 1)
    assert Picture(TILE, elements=True).cells.extent == (1, 1)
    assert Picture(tile_of_atoms(element("b1"), (8, 256), 1, Swizzle.B32)).cells.extent == (1, 128)
    assert Picture(parse_layout("(8,8):(9,1)", element("s8"))).cells.extent == (1, 1)


def test_bytes_without_elements_are_drawn_empty():
    (cells,) = read(Picture(parse_layout("(2,8):(32,1)", BF16))._repr_svg_())
    assert [cell.byte for cell in cells if cell.row is None] == [16, 32, 48, 80, 96, 112]


@pytest.mark.parametrize("color", Color, ids=lambda color: color.value)
def test_colours(color):
    (cells,) = read(Picture(TILE, color=color)._repr_svg_())
    classes = {
        Color.ROW: lambda c: c.row % 8,
        Color.K: lambda c: c.column // 8,
        Color.BANK: lambda c: c.byte % 128 // 16,
        Color.INSTRUCTION: lambda c: c.column // 16,
    }
    pairs = {(classes[color](cell), cell.fill) for cell in cells}
    assert (
        len(pairs) == len({fill for _, fill in pairs}) == (4 if color is Color.INSTRUCTION else 8)
    )


def test_a_start_and_a_base_offset_move_the_pattern():
    pictures = {b: Picture(TILE, start=0x480, base_offset=b) for b in (0, 1)}
    drawn = {b: read(picture._repr_svg_())[0] for b, picture in pictures.items()}
    for b in pictures:
        check_positions(drawn[b], pictures[b])
    # With its base offset, the tile starts with its first element again.
    first = [next((c.row, c.column) for c in drawn[b] if c.byte == 0x480) for b in pictures]
    assert first == [(0, 8), (0, 0)]


def test_the_first_stage_is_drawn_of_several():
    staged = tile_of_atoms(BF16, (4, 16, 64), 1, Swizzle.B128)
    picture = Picture(staged)
    assert "stage 0 of 4" in picture.title
    assert read(picture._repr_svg_()) == read(Picture(TILE)._repr_svg_())


def test_a_subtile_with_a_run_time_origin_is_drawn_from_0():
    wide = tile_of_atoms(BF16, (8, 128), 1, Swizzle.B128)
    part = wide.slice((0, Multiple(16)), (8, 64)).layout
    assert not part.has_static_origin
    (cells,) = read(Picture(part)._repr_svg_())
    assert check_positions(cells, Picture(part.with_origin())) == 64


def test_a_cut_has_a_note():
    picture = Picture(tile_of_atoms(BF16, (64, 64), 1, Swizzle.B128), lines=10)
    assert "only the first 10 of 64 lines shown" in picture._repr_svg_()
    assert len(read(picture._repr_svg_())[0]) == 80
    picture = Picture(tile_of_atoms(BF16, (64, 1024), 1, Swizzle.B128), View.LOGICAL, lines=10)
    text = picture._repr_svg_().replace("\n", "")
    assert picture.grid.cut_note == "only rows 0 to 9 of 64 and columns 0 to 511 of 1024 shown"
    assert "only rows 0 to 9 of 64" in text
    assert check_positions(read(text)[0], picture) == 640


def test_comparison_with_no_swizzle():
    picture = Picture(TILE, access=None)
    plain = picture.without_swizzle()
    left, right = read(svg(side_by_side([plain.drawing(), picture.drawing()])))
    assert check_positions(left, plain) == check_positions(right, picture) == 128
    assert [c.byte for c in left] == [c.byte for c in right]
    assert [c.column for c in left] != [c.column for c in right]


def outlines(picture):
    """Return the thick lines as lengths in cells: (horizontal, vertical)."""
    text = picture._repr_svg_()
    coordinates = re.findall(r'd="M(\d+) (\d+)L(\d+) (\d+)"[^>]*stroke-width="2"', text)
    width, height = map(int, re.search(r'<rect [^>]*width="(\d+)" height="(\d+)"', text).groups())
    lines = [tuple(map(int, line)) for line in coordinates]
    across = sorted((x2 - x1) // width for x1, y1, x2, y2 in lines if y1 == y2)
    down = sorted((y2 - y1) // height for x1, y1, x2, y2 in lines if x1 == x2)
    return across, down


def test_atoms_are_outlined():
    assert outlines(Picture(TILE)) == ([8, 8, 8], [16, 16])
    plain = parse_layout("(16,64):(64,1)", BF16)
    assert outlines(Picture(plain, View.LOGICAL)) == ([8, 8, 8], [16] * 9)


def test_boxes_are_outlined():
    wide = tile_of_atoms(BF16, (16, 128), 1, Swizzle.B128)
    assert outlines(Picture(wide, View.LOGICAL, outline=Outline.BOX)) == ([16, 16], [16] * 3)
    assert "boxes of 16x64" in Picture(wide, outline=Outline.BOX)._repr_svg_()


@pytest.mark.parametrize(
    "form, view, name, lengths",
    [
        ((Major.K, Swizzle.B128), View.MEMORY, "SBO 2048 bytes", ("down", 16)),
        ((Major.K, Swizzle.B128), View.LOGICAL, "SBO 2048 bytes", ("down", 8)),
        ((Major.K, Swizzle.NONE), View.LOGICAL, "LBO 1024 bytes", ("across", 1)),
        ((Major.K, Swizzle.NONE), View.MEMORY, "LBO 1024 bytes", ("down", 8)),
        ((Major.MN, Swizzle.B64), View.LOGICAL, "LBO 1024 bytes", ("down", 4)),
        ((Major.MN, Swizzle.B64), View.LOGICAL, "SBO 2048 bytes", ("across", 8)),
        ((Major.MN, Swizzle.NONE), View.LOGICAL, "LBO 1024 bytes", ("across", 8)),
        ((Major.MN, Swizzle.NONE), View.LOGICAL, "SBO 2048 bytes", ("down", 1)),
    ],
)
@pytest.mark.parametrize("role", Role)
def test_brackets_show_lbo_and_sbo(form, view, name, lengths, role):
    layout = role.orient(FORMS[form].layout(BF16, 2, 2, lbo=1024, sbo=2048))
    picture = Picture(layout, view, role=role, strides=True)
    text = picture._repr_svg_()
    assert f">{name}</text>" in text
    direction, length = lengths
    if role is Role.B and view is View.LOGICAL:
        direction = {"down": "across", "across": "down"}[direction]
    width, height = map(int, re.search(r'<rect [^>]*width="(\d+)" height="(\d+)"', text).groups())
    arrows = re.findall(r'd="M(\d+) (\d+)L(\d+) (\d+)"[^>]*marker-start', text)
    brackets = [
        ("down", (int(y2) - int(y1)) / height)
        if x1 == x2
        else ("across", (int(x2) - int(x1)) / width)
        for x1, y1, x2, y2 in arrows
    ]
    assert (direction, length) in brackets


def test_the_data_has_every_cell():
    data = Picture(TILE, lines=2).data()
    offsets = np.array([cell["byte"] for cell in data["cells"]]).reshape(16, 8)
    assert (offsets == TILE.offsets()[:, ::8]).all()
    assert data["cell"] == {"rows": 1, "columns": 8, "bytes": 16}
    assert data["cells"][9] == {"row": 1, "column": 8, "byte": 128, "line": 1, "bank": 0}


@pytest.mark.parametrize(
    "picture, message",
    [
        (Picture(TILE, start=8), "cannot begin at byte 8; expected a multiple of 16 below 262144"),
        (Picture(TILE, start=1 << 18), "cannot begin at byte 262144; expected"),
        (Picture(TILE, base_offset=8), "base offset is 8; expected 0 to 7"),
        (Picture(TILE, lines=0), "0 lines cannot be drawn; expected 1 to 2048"),
        (Picture(TILE, lines=2049), "2049 lines cannot be drawn"),
        (
            Picture(parse_layout("(4096,4096):(4096,1)", BF16)),
            "spans 33554432 bytes of bf16; a picture shows at most the 262144",
        ),
        (Picture(parse_layout(f"(2,8):({10**18},1)", BF16)), "spans 2000"),
        (Picture(parse_layout(f"({10**18},8):(0,1)", BF16)), "spans 8000"),
        (
            Picture(parse_layout("(8,8):(9,1)", element("b1"))),
            "the elements of b1 in a byte are not contiguous",
        ),
        (Picture(parse_layout("(16,64):(1,17)", BF16), strides=True), "no LBO and SBO: along k"),
        (
            Picture(TileLayout(BF16, (64,), ((Mode(64, 1),),))),
            "a picture shows rows and columns; the layout has rank 1",
        ),
        (
            Picture(parse_layout("(16,64):(72,1)", BF16), outline=Outline.BOX),
            "lines of 64 elements are 72 elements apart",
        ),
    ],
)
def test_pictures_that_cannot_be_drawn(picture, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        picture.drawing()


def test_a_layout_without_swizzle_has_no_comparison():
    with pytest.raises(LayoutError, match="no swizzle to compare with"):
        Picture(parse_layout("(8,8):(8,1)", BF16)).without_swizzle()


def test_notebooks_show_the_drawing():
    picture = Picture(TILE)
    assert picture._repr_svg_() == svg(picture.drawing())
