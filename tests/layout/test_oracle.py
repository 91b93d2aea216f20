"""Comparison with CuTe's results, computed by NVIDIA's headers.

`tests/data/cute_sm90.json.gz` holds them, with their source and licence in `meta`.
"""

import hashlib
import re

import pytest
from oracle import DATA, ROWS, SWIZZLES, contiguous_of, every_row, tile_of

from mlir_smem.layout import (
    LayoutError,
    Major,
    Role,
    Swizzle,
    TileOrder,
    WgmmaDescriptor,
    choose,
    element,
    instruction_k,
    match,
    mma_tiles,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.fragment_access import a_fragment_access
from mlir_smem.layout.operand import operand_mma_tiles
from mlir_smem.layout.uses import FragmentUse
from mlir_smem.layout.wgmma import MN_MAJOR, WgmmaInstruction

F16 = element("f16")


def mma_tiles_of(row):
    """The MMA tiles of a row's first stage."""
    pieces = (row["inst_mn"],) * (row["mn"] // row["inst_mn"])
    return operand_mma_tiles(tile_of(row).stage(0).layout, pieces, WgmmaDescriptor)


def test_the_data_states_its_source():
    assert DATA["meta"]["source"].startswith("NVIDIA/cutlass")
    assert "BSD-3-Clause" in DATA["meta"]["licence"]


def test_every_tile_is_one_that_wgmma_can_read():
    # CuTe also describes MN-major tiles of other types; the table leaves those to sm_100.
    assert len(ROWS) == 818
    assert all(row["isa_legal_operand"] for row in ROWS)
    assert all(element(row["dtype"]) in MN_MAJOR for row in ROWS if row["major"] == "MN")


@every_row
def test_element_map(row):
    offsets = tile_of(row).stage(0).layout.offsets()
    assert hashlib.sha256(offsets.astype("<u4").tobytes()).hexdigest() == row["map_sha256"]


@every_row
def test_descriptor(row):
    ours = mma_tiles_of(row).descriptor(row["smem_addr"])
    cutes = WgmmaDescriptor.decode(int(row["desc_hex"], 16))
    for field in {"start", "lbo", "sbo", "base_offset", "swizzle"} - set(row["dont_care"]):
        assert getattr(ours, field) == getattr(cutes, field), field


@every_row
def test_strides_that_matter_are_those_that_cute_cares_for(row):
    canonical = mma_tiles_of(row).canonical
    ignored = {name for name in ("lbo", "sbo") if getattr(canonical, name) is None}
    assert ignored == set(row["dont_care"])


@every_row
def test_steps(row):
    k_steps, mn_steps = row["k_step_u128"], row["mn_step_u128"]
    assert mma_tiles_of(row).steps == tuple(tuple(mn + k for k in k_steps) for mn in mn_steps)


@every_row
def test_stage_steps(row):
    tile = tile_of(row)
    starts = [tile.stage(i).offset for i in range(row["stages"])]
    assert [tile.element.bytes(start) // 16 for start in starts] == row["stage_step_u128"]


# CuTe's selector of a layout atom.


def key(row):
    return row["selector"], row["dtype"], row["major"], row["mn"], row["k"]


def choose_swizzle(row, uses=()):
    """The swizzle that this project chooses for a row's tile, or None."""
    element_type, shape = element(row["dtype"]), (row["mn"], row["k"])
    picked = choose(element_type, shape, uses, contiguous=contiguous_of(row)).picked
    return picked and picked.layout.swizzle


def differing_rows(selector, uses=()):
    """The rows of a selector for which this project chooses another swizzle."""
    rows = [row for row in DATA["selector"] if row["selector"] == selector]
    assert rows
    return [key(row) for row in rows if choose_swizzle(row, uses) != SWIZZLES[row["selected"]]]


def test_choice_of_a_tile_that_nothing_uses():
    assert differing_rows("sm90_ss") == []


def test_choice_of_an_a_that_is_loaded_into_registers():
    assert differing_rows("sm90_rs", [FragmentUse("load", a_fragment_access)]) == []


def test_choice_for_registers_differs_from_that_for_shared_memory():
    # CuTe narrows only tf32 MN-major, to 32B, which avoids bank conflicts of the loads. So does this
    # project, because of the uses that load; a tile without loads gets the widest swizzle.
    cutes = {key(row): row["selected"] for row in DATA["selector"]}
    differ = {k for k in cutes if cutes[k] != cutes[("sm90_ss", *k[1:])]}
    assert {k[:3] for k in differ} == {("sm90_rs", "tf32", "MN")}
    assert set(differing_rows("sm90_rs")) == differ


def test_choice_of_an_operand():
    # B of shape (n, k), which is (k, n) as a tile.
    differ = set()
    for row in DATA["selector"]:
        element_type, shape = element(row["dtype"]), (row["k"], row["mn"])
        use = WgmmaInstruction().use("mma B", Role.B)
        picked = choose(element_type, shape, [use], contiguous=1 - contiguous_of(row)).picked
        if picked is None:
            differ.add(key(row))
        elif picked.layout.swizzle != SWIZZLES[row["selected"]]:
            pytest.fail(f"{row}: {picked.name}")
    # CuTe also selects layouts that no instruction reads.
    assert differ == {
        key(row)
        for row in DATA["selector"]
        if (row["major"] == "MN" and element(row["dtype"]) not in MN_MAJOR)
        or row["k"] % instruction_k(element(row["dtype"]))
    }


# Layouts that CuTe accepts, with their descriptors.

ACCEPTED = {
    "n9_half_atom_f16_MN_sm90": (
        tile_of_atoms(F16, (64, 64), 0, Swizzle.B128, TileOrder.ALONG),
        32,
    ),
    "n10_core_matrix_K_handmade": (parse_layout("((8,8),(8,8)):((8,64),(1,512))", F16), 64),
    "n11_plain_sw128_rowmajor_64": (parse_layout("Swizzle<3,4,3> o (64,64):(64,1)", F16), 64),
    "n12_mn_n24_sw64_tail": (tile_of_atoms(F16, (96, 32), 0, Swizzle.B64, TileOrder.ALONG), 96),
    "n14_inter_half_T": (tile_of_atoms(F16, (64, 64), 0, Swizzle.NONE, TileOrder.ALONG), 8),
}


def case(name):
    return next(c for c in DATA["acceptance_cases"] if c["name"] == name)


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name):
    layout, piece = ACCEPTED[name]
    expected = case(name)
    assert expected["accepted"]
    tiles = operand_mma_tiles(layout, (piece,) * (layout.shape[0] // piece), WgmmaDescriptor)
    assert tiles.descriptor(0).encode() == int(expected["desc_hex"], 16)
    # (_1,m/n tiles,k blocks):(_0,step,step); a single one has the step 0.
    counts, steps = (
        [int(n) for n in re.findall(r"\d+", part)]
        for part in expected["desc_layout_u128"].split(":")
    )
    assert tiles.steps == tuple(
        tuple(mn * steps[1] + k * steps[2] for k in range(counts[2])) for mn in range(counts[1])
    )


# Layouts that CuTe refuses; its messages hold no values, this project's do.

REFUSED = {
    "n1_plain_rowmajor": (
        lambda: match(parse_layout("(64,64):(64,1)", F16)).reason,
        r"along m/n, the stride of factor 8 is 64 elements where 1T = 8 is needed",
    ),
    "n3_padded_sw128": (
        lambda: match(parse_layout("Swizzle<3,4,3> o (64,64):(72,1)", F16)).reason,
        r"along m/n, the stride of factor 8 is 72 elements where 8T = 64 is needed",
    ),
    "n4_mn4": (
        lambda: mma_tiles(tile_of_atoms(F16, (64, 4), 0, Swizzle.B128), Role.B).reason,
        r"N is 4; expected a multiple of 8, for example 8",
    ),
    "n5_tile_not_div": (
        lambda: choose(F16, (64, 32), [], contiguous=1).candidates[0].refusal,
        r"its contiguous extent of 32 elements is no multiple of the atom's 64",
    ),
    "n13_sw128_rowmajor_128wide": (
        lambda: match(parse_layout("Swizzle<3,4,3> o (64,128):(128,1)", F16)).reason,
        r"along m/n, the stride of factor 8 is 128 elements where 8T = 64 is needed",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    ours, reason = REFUSED[name]
    assert not case(name)["accepted"]
    assert re.search(reason, ours())


def test_refused_swizzle():
    assert not case("n2_sw333")["accepted"]
    with pytest.raises(LayoutError, match="Swizzle<3,3,3> is no swizzling mode of shared memory"):
        parse_layout("Swizzle<3,3,3> o (64,64):(64,1)", F16)


@pytest.mark.parametrize("name, contiguous", [("n6_majorK_of_MN", 0), ("n7_majorMN_of_K", 1)])
def test_a_tile_cannot_be_read_with_the_other_major(name, contiguous):
    # The majorness is inferred from the layout, so that a wrong one cannot be requested.
    expected = case(name)
    assert not expected["accepted"]
    canonical = match(tile_of_atoms(F16, (64, 64), contiguous, Swizzle.B128))
    assert canonical.major is not Major[expected["major"]]


def test_every_case_is_tested():
    names = {*ACCEPTED, *REFUSED, "n2_sw333", "n6_majorK_of_MN", "n7_majorMN_of_K"}
    assert names == {c["name"] for c in DATA["acceptance_cases"]}
