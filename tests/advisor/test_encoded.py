"""Descriptors from fields and from tiles."""

import re

import pytest
from hypothesis import given
from strategies import operands

from mlir_smem.advisor import encode, encode_operand, operand_of
from mlir_smem.layout import (
    LayoutError,
    Mismatch,
    Role,
    Swizzle,
    element,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.wgmma import MULTIPLICANDS

BF16 = element("bf16")
A = tile_of_atoms(BF16, (4, 128, 128), 1, Swizzle.B128)


def refusal(tile, role=Role.A, rows=None):
    mismatch = operand_of(tile, role, rows)
    assert isinstance(mismatch, Mismatch)
    return mismatch.reason


# Fields.


def test_fields():
    answer = encode(0x400, 16, 1024, Swizzle.B128)
    assert (answer.bits, answer.constant) == (0x4000004000010040, 0x4000004000010000)
    assert answer.data() == {
        "arch": "sm_90",
        "descriptor": "0x4000004000010040",
        "constant": "0x4000004000010000",
        "fields": {
            "start": 1024,
            "lbo": 16,
            "sbo": 1024,
            "base_offset": 0,
            "swizzle": "128B",
            "absolute": False,
        },
        "operand": None,
        "descriptors": [["0x4000004000010040"]],
        "suspicions": [],
    }


def test_text_of_fields():
    lines = str(encode(0x480, 16, 1024, Swizzle.B128)).split("\n")
    assert lines[0] == "0x4000004000010048 = 0x4000004000010000 | (address >> 4 & 0x3fff)"
    assert re.fullmatch(
        r"start address +0-13 +72 +1152 \(0x480\) +address of the first element", lines[4]
    )
    assert lines[-1].startswith("suspicious (start-off-pattern): the start 0x480 is 128 bytes")


@pytest.mark.parametrize(
    "fields, problem",
    [
        ((8, 16, 1024, Swizzle.B128), "start is 8 bytes; a descriptor holds multiples of 16 below"),
        ((0, 16, 1 << 18, Swizzle.B128), "sbo is 262144 bytes; a descriptor holds"),
        ((0, 16, 1024, Swizzle.B128, 8), "base offset is 8; expected 0 to 7"),
        ((0, 16, 1024, Swizzle.NONE, 1), "base offset is 1, but without swizzle it must be 0"),
    ],
)
def test_fields_that_a_descriptor_cannot_hold(fields, problem):
    with pytest.raises(LayoutError, match=problem):
        encode(*fields)


# Tiles.


def test_text_of_a_tile():
    text = str(encode_operand(operand_of(A, Role.A), 0x400))
    assert text.endswith(
        "K-major: Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))\n"
        "k steps: +0, +2, +4, +6, +1024, +1026, +1028, +1030 (16-byte units; each 16 of k)\n"
        "M steps: +0, +512 (16-byte units; M = 64+64)\n"
        "stage steps: +0, +2048, +4096, +6144 (16-byte units; each stage)"
    )
    assert "LBO            16-29  1        16            not used" in text


def test_json_of_a_tile():
    data = encode_operand(operand_of(A, Role.A), 0x400).data()
    assert data["descriptor"] == data["descriptors"][0][0] == "0x4000004000010040"
    assert data["descriptors"][1][2] == "0x4000004000010244"
    assert data["operand"] == {
        "role": "a",
        "element": "bf16",
        "layout": "Swizzle<3,4,3> o (128,(64,2)):(64,(1,8192))",
        "major": "k",
        "swizzle": "128B",
        "form": "Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))",
        "lbo": None,
        "sbo": 1024,
        "rows": [64, 64],
        "k_steps": [0, 2, 4, 6, 1024, 1026, 1028, 1030],
        "mn_steps": [0, 512],
        "stage_steps": [0, 2048, 4096, 6144],
    }


def test_in_a_notebook():
    shown = encode_operand(operand_of(A, Role.A))._repr_html_()
    assert "<td>not used</td>" in shown
    assert "<li>M steps: +0, +512" in shown


def test_a_tile_that_starts_inside_a_pattern_has_a_base_offset():
    assert encode_operand(operand_of(A, Role.A), 0x480).descriptor.base_offset == 1


@given(operands().filter(lambda operand: operand.tile.element in MULTIPLICANDS))
def test_every_operand_has_descriptors(operand):
    encoded_operand = operand_of(operand.oriented_tile, operand.role)
    answer = encode_operand(encoded_operand)
    assert (
        answer.descriptors[0][0] == answer.bits == encoded_operand.mma_tiles.descriptor(0).encode()
    )
    assert encoded_operand.mma_tiles.canonical.major is operand.major


def test_a_tile_may_end_where_addresses_end():
    assert encode_operand(operand_of(A, Role.A), 1 << 17).descriptor.start == 1 << 17


@pytest.mark.parametrize(
    "start, problem",
    [
        (0x440, "a 128B pattern cannot start at 0x440: the base offset counts lines of 128 bytes"),
        (
            0x20010,
            "a tile of 131072 bytes at 0x20010 ends above 0x40000, the limit of descriptor addresses",
        ),
    ],
)
def test_illegal_starts(start, problem):
    with pytest.raises(LayoutError, match=problem):
        encode_operand(operand_of(A, Role.A), start)


@pytest.mark.parametrize(
    "text, element_name, reason",
    [
        ("(64,16):(16,1)", "s32", "s32 is not an A or B element type of wgmma"),
        (
            "(2,64,16):(1020,16,1)",
            "bf16",
            "a stage begins 2040 bytes into the tile, not at a multiple of 16",
        ),
        ("(60,16):(16,1)", "bf16", "M is 60, not a multiple of 64"),
    ],
)
def test_tiles_that_are_not_operands(text, element_name, reason):
    assert refusal(parse_layout(text, element(element_name))) == reason


def test_rows_of_an_instruction():
    b = tile_of_atoms(BF16, (64, 256), 0, Swizzle.B128)
    assert operand_of(b, Role.B, 128).mma_tiles.pieces == (128, 128)
    assert refusal(b, Role.B, 96) == (
        "instructions of N = 96 do not cut N = 256 evenly; N = 8, 16, 32, 64, 128, 256 do"
    )
