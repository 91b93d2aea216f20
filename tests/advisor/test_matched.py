"""Tiles and maps matched to canonical layouts, and the answers for those without one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import layouts, operands

from mlir_smem.advisor import match_map, match_tile
from mlir_smem.layout import (
    LayoutError,
    Mismatch,
    Role,
    Swizzle,
    element,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.element_map import element_offsets
from mlir_smem.layout.wgmma import MULTIPLICANDS

BF16 = element("bf16")
ATOMS = tile_of_atoms(BF16, (128, 128), 1, Swizzle.B128)
PLAIN = parse_layout("(128,64):(64,1)", BF16)


def test_text_of_a_match():
    assert str(match_tile(ATOMS, Role.A)) == (
        "matches     K-major: Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))\n"
        "layout      Swizzle<3,4,3> o (128,(64,2)):(64,(1,8192))\n"
        "LBO         not used\n"
        "SBO         1024 bytes\n"
        "descriptor  0x4000004000010000 | (address & 0x3ffff) >> 4\n"
        "k steps     +0, +2, +4, +6, +1024, +1026, +1028, +1030 (16-byte units; each 16 of k)\n"
        "M steps     +0, +512 (16-byte units; M = 64+64)"
    )


def test_text_of_a_mismatch():
    assert str(match_tile(PLAIN, Role.A)).split("\n") == [
        "no match                          the MMA tile of 64x16 at (0, 0): along m/n, the "
        "stride of factor 8 is 64 elements where 1T = 8 is needed; K-major, swizzle none, is "
        "Swizzle<0,4,3> o ((8,m),(T,2k)):((1T,SBO),(1,LBO))",
        "layout                            Swizzle<0,4,3> o (128,64):(64,1)",
        "the stride of factor 8 along m/n  64; expected 8",
        "hint                              the same strides match with swizzle 128B",
        "nearest                           Swizzle<3,4,3> o (128,64):(64,1) (swizzle 128B, row-major, "
        "atoms across): 7168 of 8192 elements have another offset",
    ]


def test_json_of_a_mismatch():
    data = match_tile(PLAIN, Role.A).data()
    assert data["mismatch"].pop("reason").startswith("the MMA tile of 64x16 at (0, 0): ")
    assert data == {
        "arch": "sm_90",
        "matches": False,
        "layout": "Swizzle<0,4,3> o (128,64):(64,1)",
        "element": "bf16",
        "role": "a",
        "shape": [128, 64],
        "start": 0,
        "order": {
            "written": ["m", "k"],
            "answered": ["m", "k"],
            "assumed": True,
            "others": [],
            "fitting": [],
            "problem": None,
        },
        "encoded": None,
        "mismatch": {
            "mode": "the stride of factor 8 along m/n",
            "actual": 64,
            "expected": 8,
        },
        "matching_swizzles": ["128B"],
        "nearest": {
            "layout": "Swizzle<3,4,3> o (128,64):(64,1)",
            "name": "swizzle 128B, row-major, atoms across",
            "different": 7168,
            "total": 8192,
        },
    }


def test_the_nearest_layout_has_the_fewest_differences():
    # The second half of M is not 16-byte aligned; the first has the layout of whole atoms.
    tile = parse_layout("Swizzle<3,4,3> o ((64,2),(64,2)):((64,4100),(1,8192))", BF16)
    nearest = match_tile(tile, Role.A).nearest
    assert (nearest.layout, nearest.total) == (ATOMS, 128 * 128)
    assert (
        nearest.different
        == int((element_offsets(ATOMS) != element_offsets(tile)).sum())
        == 64 * 128
    )


def test_no_layout_is_near_a_shape_that_no_instruction_reads():
    match = match_tile(parse_layout("(60,64):(64,1)", BF16), Role.A)
    assert match.found == Mismatch("M is 60, not a multiple of 64")
    assert match.nearest is None
    assert match.data()["nearest"] is None


@given(layouts(), st.sampled_from(Role), st.sampled_from([None, 16, 48, 64]))
def test_hints_name_what_the_tile_does_not_have(tile, role, rows):
    """Neither its own swizzle, nor a layout that equals it."""
    if tile.element not in MULTIPLICANDS:
        return
    matched = match_tile(tile, role, rows)
    assert tile.swizzle not in matched.matching_swizzles
    assert matched.nearest is None or matched.nearest.different
    for swizzle in matched.matching_swizzles:
        other = match_tile(replace(tile, swizzle=swizzle), role, rows)
        assert not isinstance(other.found, Mismatch)


def test_in_a_notebook():
    assert "<td>SBO</td><td>1024 bytes</td>" in match_tile(ATOMS, Role.A)._repr_html_()
    assert "<td>nearest</td>" in match_tile(PLAIN, Role.A)._repr_html_()


def test_a_type_without_layouts_has_no_nearest():
    match = match_tile(tile_of_atoms(element("s32"), (64, 32), 1, Swizzle.B128), Role.A)
    assert match.found == Mismatch("s32 is not an A or B element type of wgmma")
    assert (match.nearest, match.matching_swizzles) == (None, ())


# Maps.


@given(operands().filter(lambda operand: operand.tile.element in MULTIPLICANDS))
def test_the_map_of_an_operand_matches(operand):
    answer = match_map(
        element_offsets(operand.oriented_tile), operand.oriented_tile.element, operand.role
    )
    assert not isinstance(answer.found, Mismatch)
    assert (element_offsets(answer.layout) == element_offsets(operand.oriented_tile)).all()


def test_a_map_of_addresses():
    answer = match_map(element_offsets(ATOMS) + 0x800 // 2, BF16, Role.A)
    assert (answer.start, answer.layout) == (0x800, ATOMS)
    assert answer.encoded.bits == 0x4000004000010000
    assert (answer.places == element_offsets(ATOMS)).all()


def test_stages():
    tile = tile_of_atoms(BF16, (3, 64, 64), 1, Swizzle.B64)
    answer = match_map(element_offsets(tile), BF16, Role.A)
    assert answer.found.stage_steps == match_tile(tile, Role.A).found.stage_steps == (0, 512, 1024)


def test_a_map_of_a_layout_that_no_instruction_reads():
    answer = match_map(element_offsets(PLAIN), BF16, Role.A)
    assert answer.layout == PLAIN
    assert answer.found == match_tile(PLAIN, Role.A).found


def test_one_wrong_element():
    places = element_offsets(ATOMS)
    places[3, 5] += 8
    answer = match_map(places, BF16, Role.A)
    assert answer.layout is None
    assert answer.found == Mismatch(
        "no swizzle and strides match the map: Swizzle<3,4,3> o (128,(64,2)):(64,(1,8192)) is the "
        "nearest, but element (3, 5) is at 229, not at 221 (in elements); 1 of 16384 differ",
        "the place of element (3, 5)",
        229,
        221,
    )
    assert (answer.nearest.layout, answer.nearest.different) == (ATOMS, 1)


def test_a_map_of_rank_1():
    with pytest.raises(LayoutError, match=r"a map has rows and columns"):
        match_map(np.arange(8), BF16, Role.A)
