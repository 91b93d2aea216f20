"""Accesses on pictures: the elements of each lane, and the wavefronts."""

import re

import pytest
from drawn import check_positions, read

from mlir_smem.advisor.pictures import AccessKind, Picture, View
from mlir_smem.layout import (
    Access,
    LayoutError,
    Role,
    Swizzle,
    element,
    mma_tiles,
    parse_layout,
    tile_of_atoms,
)

BF16 = element("bf16")
PLAIN = parse_layout("(64,64):(64,1)", BF16)


def atoms(swizzle, contiguous=1, element_type=BF16, shape=(64, 64)):
    return tile_of_atoms(element_type, shape, contiguous, swizzle)


@pytest.mark.parametrize(
    "layout, kind, access",
    [
        (PLAIN, AccessKind.STORE, Access(4, 4)),
        (PLAIN, AccessKind.LDMATRIX, Access(32, 4)),
        (PLAIN, AccessKind.CORE, Access(8, 1)),
        *[
            (atoms(Swizzle.B128, contiguous), kind, Access(ideal, ideal))
            for contiguous in (0, 1)
            for kind, ideal in (
                (AccessKind.STORE, 4),
                (AccessKind.LDMATRIX, 4),
                (AccessKind.CORE, 1),
            )
        ],
        (atoms(Swizzle.NONE), AccessKind.STORE, Access(32, 4)),
        (atoms(Swizzle.NONE), AccessKind.CORE, Access(1, 1)),
    ],
)
def test_wavefronts_are_in_the_title(layout, kind, access):
    picture = Picture(layout, access=kind)
    over = picture.touched
    assert over is not None and over.access == access
    title = " ".join(re.findall(r"<text[^>]*bold[^>]*>([^<]*)</text>", picture._repr_svg_()))
    if access.conflicts:
        assert f"{access.conflicts} bank conflicts" in title
    else:
        assert "no bank conflicts" in title
    assert picture.data()["access"] == {
        "what": over.sentence,
        "touched_by": "line" if kind is AccessKind.CORE else "lane",
        "wavefronts": access.wavefronts,
        "ideal_wavefronts": access.ideal,
    }


def lanes(picture):
    """Return where each lane is drawn: {lane: {(row, column)}}."""
    (cells,) = read(picture._repr_svg_())
    check_positions(cells, picture)
    positions = {}
    for cell in cells:
        if cell.lane is not None:
            positions.setdefault(cell.lane, set()).add((cell.row, cell.column))
    return positions


@pytest.mark.parametrize("view", View)
def test_lanes_are_drawn_on_the_cells_that_they_access(view):
    layout = atoms(Swizzle.B128)
    store = lanes(Picture(layout, view, access=AccessKind.STORE))
    assert store == {lane: {(lane // 8, lane % 8 * 8)} for lane in range(32)}
    rows = lanes(Picture(layout, view, access=AccessKind.LDMATRIX, at=(16, 32)))
    assert rows == {lane: {(16 + lane % 16, 32 + lane // 16 * 8)} for lane in range(32)}
    core = lanes(Picture(layout, view, access=AccessKind.CORE, at=(8, 8)))
    assert core == {lane: {(8 + lane, 8)} for lane in range(8)}


def test_a_transposed_core_matrix_has_its_lines_along_columns():
    layout = atoms(Swizzle.B128, contiguous=0)
    assert lanes(Picture(layout, access=AccessKind.CORE, at=(16, 8))) == {
        lane: {(16, 8 + lane)} for lane in range(8)
    }


def test_a_lane_accesses_all_elements_of_its_16_bytes():
    picture = Picture(atoms(Swizzle.B128), access=AccessKind.CORE, elements=True)
    assert lanes(picture)[3] == {(3, column) for column in range(8)}


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("contiguous", [0, 1])
@pytest.mark.parametrize("step", range(4))
def test_the_mma_tile_of_a_wgmma_and_its_descriptor_offset(role, contiguous, step):
    layout = atoms(Swizzle.B128, contiguous)
    start = (0, 16 * step) if role is Role.A else (16 * step, 0)
    picture = Picture(layout, access=AccessKind.MMA, at=start, role=role)
    added = mma_tiles(layout, role).steps[0][step]
    over = picture.touched
    assert over is not None
    assert f"k {16 * step} to {16 * step + 15}: descriptor + {added} " in over.sentence
    touched = over.lane if role is Role.A else over.lane.T
    assert (touched[:, 16 * step : 16 * step + 16] == 0).all()
    assert (touched >= 0).sum() == 64 * 16
    (cells,) = read(picture._repr_svg_())
    assert {cell.lane for cell in cells} == {None}


def test_a_wgmma_reads_64_rows_of_a_and_256_columns_of_b():
    a = atoms(Swizzle.B128, shape=(128, 64))
    assert "m 64 to 127" in Picture(a, access=AccessKind.MMA, at=(64, 0)).data()["access"]["what"]
    b = atoms(Swizzle.B128, shape=(64, 512))
    picture = Picture(b, access=AccessKind.MMA, at=(0, 0), role=Role.B)
    assert "n 0 to 255" in picture.data()["access"]["what"]


ILLEGAL = [
    (PLAIN, AccessKind.CORE, (64, 0), "begins outside of a tile of 64x64"),
    (PLAIN, AccessKind.CORE, (0, 4), "begins at column 4; expected a multiple of 8"),
    (PLAIN, AccessKind.CORE, (60, 0), "a core matrix at (60, 0) reaches (67, 7), outside"),
    (PLAIN, AccessKind.LDMATRIX, (0, 56), "reaches (15, 71), outside"),
    (
        parse_layout("(64,64):(65,1)", BF16),
        AccessKind.STORE,
        (0, 0),
        "a warp's 16-byte store accesses 16 bytes at a time, but the tile has no 8 contiguous",
    ),
    (
        atoms(Swizzle.B128, 0, element("e4m3"), (128, 64)),
        AccessKind.LDMATRIX,
        (0, 0),
        "ldmatrix does not transpose e4m3",
    ),
    (PLAIN, AccessKind.MMA, (0, 8), "a wgmma reads 16 elements of k from a multiple of"),
    (atoms(Swizzle.NONE, shape=(64, 8)), AccessKind.MMA, (0, 0), "not from 0 of 8"),
]


@pytest.mark.parametrize(
    "layout, kind, start, message",
    ILLEGAL,
    ids=[f"layout{i}-{kind!s}-at{i}-{message}" for i, (_, kind, _, message) in enumerate(ILLEGAL)],
)
def test_an_illegal_access_is_refused(layout, kind, start, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        Picture(layout, access=kind, at=start).drawing()
