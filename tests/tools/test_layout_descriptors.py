"""`smem-layout decode`, `encode`, `match` and `diagnose`: output and messages."""

import numpy as np
import pytest
from oracle import every_row, tile_of

from mlir_smem.layout import WgmmaDescriptor as Descriptor
from mlir_smem.layout import element, tile_of_atoms
from mlir_smem.layout.element_map import element_offsets
from mlir_smem.layout.swizzle import Swizzle

BF16 = element("bf16")
ATOMS = "Swizzle<3,4,3> o (128,64):(64,1)"
DESCRIPTOR = "0x4000004000010040"


@pytest.fixture
def a_map(tmp_path):
    """Save an array to a file; return its path."""

    def store(array):
        np.save(tmp_path / "map.npy", array)
        return str(tmp_path / "map.npy")

    return store


# CuTe's answers. An operand of shape (m/n, k) is B of a tile (k, n).


def layout_of(row):
    tile = tile_of(row)
    return tile if row["stages"] > 1 else tile.stage(0).layout


def arguments_of(row):
    text = str(layout_of(row).transposed())
    rows = str(row["inst_mn"])
    return text, "--element", row["dtype"], "--role", "b", "--rows", rows


def is_cutes_descriptor(fields, row):
    """Return whether fields are those of CuTe's descriptor, except unused ones."""
    cutes = Descriptor.decode(int(row["desc_hex"], 16))
    return all(
        fields[name] == getattr(cutes, name)
        for name in {"start", "lbo", "sbo", "base_offset"} - set(row["dont_care"])
    ) and fields["swizzle"] == str(cutes.swizzle)


def steps_of(operand):
    return operand["k_steps"], operand["mn_steps"], operand["stage_steps"]


@every_row
def test_encode_gives_cutes_descriptors(json_of, row):
    answer = json_of("encode", *arguments_of(row), "--start", str(row["smem_addr"]))
    assert is_cutes_descriptor(answer["fields"], row)
    steps = tuple(row[name] for name in ("k_step_u128", "mn_step_u128", "stage_step_u128"))
    assert steps_of(answer["operand"]) == steps


@every_row
def test_match_gives_cutes_descriptors(json_of, row):
    answer = json_of("match", *arguments_of(row))
    assert answer["matches"]
    fields = answer["encoded"]["fields"]
    assert is_cutes_descriptor({**fields, "start": row["smem_addr"]}, row)
    operand = answer["encoded"]["operand"]
    assert operand["major"] == row["major"].lower()
    ignored = {name for name in ("lbo", "sbo") if operand[name] is None}
    assert ignored == set(row["dont_care"])


# Arguments of each command.


def test_decode(output_of, json_of):
    text = output_of("decode", DESCRIPTOR, "--element", "bf16", "--major", "k", "--rows", "128")
    assert text.startswith("0x4000004000010040, 128 x 16 bf16 of (m/n, k), K-major\n")
    data = json_of("decode", DESCRIPTOR, "--element", "bf16", "--at", "0x440")
    assert [suspicion["name"] for suspicion in data["suspicions"]] == ["base-offset"]
    assert json_of("decode", DESCRIPTOR)["element"] is None


def test_encode_fields(output_of, json_of):
    fields = ("--start", "0x400", "--lbo", "16", "--sbo", "1024", "--swizzle", "128")
    assert output_of("encode", *fields).startswith(f"{DESCRIPTOR} = 0x4000004000010000 | (address")
    data = json_of("encode", *fields, "--base-offset", "2")
    assert (data["descriptor"], data["operand"]) == ("0x4004004000010040", None)


def test_encode_a_layout(json_of):
    data = json_of("encode", ATOMS, "--element", "bf16", "--start", "0x400")
    assert (data["descriptor"], data["operand"]["k_steps"]) == (DESCRIPTOR, [0, 2, 4, 6])


@pytest.mark.parametrize(
    "tile",
    [
        [ATOMS],
        ["--shape", "128,64", "--strides", "64,1", "--swizzle", "128"],
        ["--shape", "128,64", "--strides", "128,2", "--bytes", "--swizzle", "128"],
    ],
    ids=["layout", "elements", "bytes"],
)
def test_ways_to_give_a_tile(json_of, tile):
    data = json_of("match", *tile, "--element", "bf16")
    assert data["matches"]
    assert data["layout"] == ATOMS


@pytest.mark.parametrize("unit, size", [("element", 1), ("byte", 2)])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint16])
def test_a_map(json_of, a_map, unit, size, dtype):
    places = element_offsets(tile_of_atoms(BF16, (128, 64), 1, Swizzle.B128)) * size
    file = a_map(places.astype(dtype))
    data = json_of("match", "--map", file, "--map-unit", unit, "--element", "bf16")
    assert (data["matches"], data["layout"]) == (True, ATOMS)


def test_diagnose(output_of, json_of):
    used = ("--descriptor", "0x4000002000010040", "--k-steps", "0,2,4,6")
    text = output_of("diagnose", ATOMS, "--element", "bf16", *used)
    assert (
        "has 1024: m/n 8..63, k 0..15 of each instruction are read at addresses 512 to 3584" in text
    )
    tile = (ATOMS, "--element", "bf16")
    data = json_of("diagnose", *tile, "--descriptor", DESCRIPTOR, "--major", "mn")
    assert data["causes"] == [
        "the instruction reads the operand as MN-major, but the tile is K-major"
    ]
    data = json_of("diagnose", *tile, "--descriptor", DESCRIPTOR, "--at", "0x800", "--rows", "64")
    assert data["causes"][0].startswith("the start is 0x400, where the layout has 0x800")


# Errors. Messages have a caret where a text is malformed.

A = (ATOMS, "--element", "bf16")


@pytest.mark.parametrize(
    "arguments, lines",
    [
        (
            ["decode", "0x40g0"],
            [
                "malformed descriptor: unexpected 'g'",
                "  0x40g0",
                "      ^",
                "  for example 0x4000004000010000",
            ],
        ),
        (
            ["decode", "0x1", "--element", "bf17"],
            [
                "malformed element type: expected one of f16, bf16, tf32, e4m3, e5m2, s8, u8, b1",
                "  bf17",
                "  ^",
                "  for example bf16",
            ],
        ),
        (
            ["decode", "0x1", "--at", "4k"],
            ["malformed --at: unexpected 'k'", "  4k", "   ^", "  for example 0x400"],
        ),
        (
            ["match", "(64,64):(64,1", "--element", "bf16"],
            [
                "malformed layout: a parenthesis is not closed",
                "  (64,64):(64,1",
                "               ^",
                "  for example Swizzle<3,4,3> o ((8,16),64):((64,512),1)",
            ],
        ),
        (
            ["match", "--shape", "64,x", "--strides", "64,1", "--element", "bf16"],
            ["malformed --shape: unexpected 'x'", "  64,x", "     ^", "  for example 128,64"],
        ),
        (
            ["match", "--shape", "64,64", "--strides", "64;1", "--element", "bf16"],
            ["malformed --strides: unexpected ';'", "  64;1", "    ^", "  for example 64,1"],
        ),
        (
            ["diagnose", *A, "--descriptor", DESCRIPTOR, "--k-steps", "0,,2"],
            ["malformed --k-steps: expected a number", "  0,,2", "    ^", "  for example 0,2,4,6"],
        ),
        (
            ["diagnose", *A, "--descriptor", "0x"],
            [
                "malformed --descriptor: expected a number",
                "  0x",
                "    ^",
                "  for example 0x4000004000010000",
            ],
        ),
        (
            ["encode", "--lbo", "0x10", "--sbo", "1 024"],
            ["malformed --sbo: unexpected ' '", "  1 024", "   ^", "  for example 1024"],
        ),
        (
            ["encode", "--lbo", "0", "--sbo", "0", "--base-offset", "one"],
            ["malformed --base-offset: unexpected 'o'", "  one", "  ^", "  for example 0"],
        ),
        (
            ["match", *A, "--rows", "sixty"],
            ["malformed --rows: unexpected 's'", "  sixty", "  ^", "  for example 64"],
        ),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value[0], str) else None,
)
def test_malformed_texts(error_of, arguments, lines):
    assert error_of(*arguments).split("\n") == lines


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["match", "--element", "bf16"],
            "give the tile by one of a layout, --shape (with --strides), or --map",
        ),
        (
            ["match", *A, "--shape", "64,64"],
            "give the tile by one of a layout, --shape (with --strides), or --map",
        ),
        (["match", "--shape", "64,64", "--element", "bf16"], "--shape and --strides go together"),
        (["match", *A, "--strides", "64,1"], "--shape and --strides go together"),
        (
            ["match", *A, "--swizzle", "128"],
            "--swizzle is for --shape; a layout has its own, and that of a map is inferred",
        ),
        (
            ["match", "(8,8,8,8):(1,8,64,512)", "--element", "bf16"],
            "a tile has rows and columns, or stages, rows and columns, not "
            "Swizzle<0,4,3> o (8,8,8,8):(1,8,64,512)",
        ),
        (["encode", ATOMS], "a tile needs --element"),
        (
            ["encode", *A, "--lbo", "16"],
            "--lbo, --sbo, --base-offset and --absolute follow from the tile's layout",
        ),
        (
            ["encode", "--lbo", "16"],
            "give --lbo and --sbo, or a tile by a layout, --shape or --map",
        ),
        (
            ["encode", "--lbo", "16", "--sbo", "1000"],
            "sbo is 1000 bytes; a descriptor holds multiples of 16 below 262144",
        ),
        (
            ["encode", "(60,64):(64,1)", "--element", "bf16"],
            "M is 60, not a multiple of 64",
        ),
        (["decode", "0x1", "--rows", "12", "--element", "bf16"], "an operand of 12 rows; expected 64 "
         "for A, and a multiple of 8 up to 256 for B"),
    ],
    ids=lambda value: " ".join(value[1:3]) if isinstance(value, list) else None,
)  # fmt: skip
def test_invalid_arguments(error_of, arguments, message):
    assert error_of(*arguments) == message


@pytest.mark.parametrize(
    "array, more, message",
    [
        (np.zeros((8, 8)), [], "has elements of float64; expected integers"),
        (
            np.arange(64).reshape(8, 8),
            ["--map-unit", "byte"],
            "1 bytes is not a multiple of the 2 bytes of bf16",
        ),
        (np.arange(64), [], "a map has rows and columns, or stages in front, not (64,)"),
    ],
)
def test_invalid_maps(error_of, a_map, array, more, message):
    assert message in error_of("match", "--map", a_map(array), "--element", "bf16", *more)


def test_bits_are_not_counted_in_bytes(error_of, a_map):
    file = a_map(np.zeros((8, 256), np.int64))
    assert error_of("match", "--map", file, "--map-unit", "byte", "--element", "b1") == (
        "--map: b1 has 8 elements per byte; expected --map-unit element"
    )


def test_a_missing_file(error_of, tmp_path):
    file = str(tmp_path / "x.npy")
    assert error_of("match", "--map", file, "--element", "bf16") == (
        f"--map: {file}: No such file or directory"
    )
