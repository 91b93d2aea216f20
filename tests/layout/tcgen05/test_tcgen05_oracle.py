"""Comparison with CuTe's results for sm_100, computed by NVIDIA's headers."""

import hashlib

import pytest
from each import for_each
from oracle_sm100 import DATA, ROWS, SWIZZLES, every_row, name_of, tile_of

from mlir_smem.layout import Role, Swizzle, TileOrder, choose, element, instruction_k, tile_of_atoms
from mlir_smem.layout.operand import operand_mma_tiles
from mlir_smem.layout.tcgen05 import (
    TCGEN05_WIDEST_FIRST,
    Tcgen05Descriptor,
    Tcgen05Instruction,
    kind_of,
    tcgen05_addresses,
)


def mma_tiles_of(row):
    pieces = (row["inst_mn"],) * (row["mn"] // row["inst_mn"])
    return operand_mma_tiles(tile_of(row).stage(0).layout, pieces, encoding=Tcgen05Descriptor)


def test_the_data_states_its_source():
    assert DATA["meta"]["source"].startswith("NVIDIA/cutlass")
    assert "BSD-3-Clause" in DATA["meta"]["licence"]
    assert (len(ROWS), len(DATA["selector"])) == (1075, 865)


@every_row
def test_tile(row):
    tile = tile_of(row)
    offsets = tile.stage(0).layout.offsets()
    assert hashlib.sha256(offsets.astype("<u4").tobytes()).hexdigest() == row["map_sha256"]
    starts = [tile.stage(i).offset for i in range(row["stages"])]
    assert [tile.element.bytes(start) // 16 for start in starts] == row["stage_step_u128"]


@every_row
def test_descriptors(row):
    tiles = mma_tiles_of(row)
    ours = tiles.descriptor(row["smem_addr"])
    cutes = Tcgen05Descriptor.decode(int(row["desc_hex"], 16))
    for field in {"start", "lbo", "sbo", "base_offset", "swizzle", "absolute"} - set(
        row["dont_care"]
    ):
        assert getattr(ours, field) == getattr(cutes, field), field
    k_steps, mn_steps = row["k_step_u128"], row["mn_step_u128"]
    assert tiles.steps == tuple(tuple(mn + k for k in k_steps) for mn in mn_steps)


@for_each("row", ROWS[::9], name_of)
def test_what_is_read_is_what_was_written(row):
    layout, tiles = tile_of(row).stage(0).layout, mma_tiles_of(row)
    k = instruction_k(element(row["dtype"]))
    offsets = layout.offsets()
    first = tiles.descriptor(0x2000).encode()
    for i, steps in enumerate(tiles.steps):
        for j, step in enumerate(steps):
            read = tcgen05_addresses(
                first + step, row["dtype"], row["major"].lower(), row["inst_mn"]
            )
            rows = slice(i * row["inst_mn"], (i + 1) * row["inst_mn"])
            assert (read == 0x2000 + offsets[rows, j * k : (j + 1) * k]).all()


# CuTe's selector of a layout atom.


def choose_swizzle(row, uses=()):
    shape, direction = (row["mn"], row["k"]), int(row["major"] == "K")
    element_type = element(row["dtype"])
    picked = choose(
        element_type, shape, uses, contiguous=direction, swizzles=TCGEN05_WIDEST_FIRST
    ).picked
    return picked and picked.layout.swizzle


def test_choice_of_a_tile_that_nothing_uses():
    differ = [r for r in DATA["selector"] if choose_swizzle(r) is not SWIZZLES[r["selected"]]]
    # Without a use by tensor cores, the 128-byte swizzle that wgmma also has is preferred.
    assert {(r["dtype"], r["major"], choose_swizzle(r)) for r in differ} == {
        ("tf32", "MN", Swizzle.B128)
    }


@pytest.mark.parametrize("role", Role, ids=str)
def test_choice_of_an_operand(role):
    left_out = 0
    for row in DATA["selector"]:
        element_type = element(row["dtype"])
        use = Tcgen05Instruction(kind_of(element_type, element_type)).use("mma", role)
        shape, direction = (row["mn"], row["k"]), int(row["major"] == "K")
        if role is Role.B:
            shape, direction = shape[::-1], 1 - direction
        picked = choose(
            element_type, shape, [use], contiguous=direction, swizzles=TCGEN05_WIDEST_FIRST
        ).picked
        if picked is None:
            left_out += 1
            # CuTe also selects layouts that no instruction reads.
            rows = (
                64 if role is Role.A else 8 if row["major"] == "K" or element_type.bits != 8 else 16
            )
            assert row["mn"] % rows or row["k"] % instruction_k(element_type)
        else:
            assert picked.layout.swizzle is SWIZZLES[row["selected"]], row
    assert left_out < len(DATA["selector"])


def test_accepted():
    (case,) = DATA["acceptance_cases"]
    assert case["accepted"]
    tile = tile_of_atoms(element("e4m3"), (128, 64), 0, Swizzle.B128, TileOrder.ALONG)
    tiles = operand_mma_tiles(tile, (64, 64), encoding=Tcgen05Descriptor)
    assert tiles.descriptor(0).encode() == int(case["desc_hex"], 16)
    assert case["desc_layout_u128"] == "(_1,_2,_2):(_0,_4,_256)"
    assert tiles.steps == ((0, 256), (4, 260))
