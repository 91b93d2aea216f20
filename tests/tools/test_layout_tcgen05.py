"""`smem-layout decode`, `encode`, `match` and `diagnose` with `--arch`: descriptors of tcgen05."""

import numpy as np
import pytest

ATOMS = "Swizzle<2,5,2> o ((32,4),32):((1,1024),32)"
TF32 = (ATOMS, "--element", "tf32", "--arch", "sm_100a")
LONG = "Swizzle<3,4,3> o (128,(256,3)):(256,(1,32768))"
PACKED = (LONG, "--element", "e2m1", "--arch", "sm_103")


def test_decode(json_of, output_of):
    data = json_of("decode", "0x4000404000010040", "--element", "e2m3_p32", "--arch", "sm_103")
    assert (data["arch"], data["rows"], data["suspicions"]) == ("sm_103", 128, [])
    data = json_of("decode", "0x4010404004800086", "--element", "e2m1", "--arch", "sm_103")
    assert (data["absolute"], data["chunks"]) == (True, [32, 16])
    (suspicion,) = json_of("decode", "0x4000404000010086", "--element", "e2m1", "--arch", "sm_103",
                    "--k-bytes", "48")["suspicions"]  # fmt: skip
    assert suspicion["name"] == "row-end"
    assert "suspicious (absolute-arch)" in output_of(
        "decode", "0x4010404004800086", "--arch", "sm_100"
    )


def test_decode_an_instruction(output_of, json_of):
    text = output_of("decode", "--instruction", "0x08400010", "--kind", "f16")
    assert text.startswith("0x08400010, kind::f16: 128 x 256 f32 from f16 and f16\n")
    arguments = ("--instruction", "0xd04004a0", "--kind", "mxf4nvf4")
    assert json_of("decode", *arguments, "--arch", "sm_103")["suspicions"] == []
    assert json_of("decode", *arguments)["suspicions"][0]["name"] == "k-bytes"


def test_encode(json_of):
    assert json_of("encode", *TF32)["descriptor"] == "0x2000402001000000"
    fields = ("--lbo", "4096", "--sbo", "512", "--swizzle", "128_atom_32", "--arch", "sm_100")
    assert json_of("encode", *fields)["descriptor"] == "0x2000402001000000"
    fields = (
        "--start",
        "0x860",
        "--lbo",
        "0x4800",
        "--sbo",
        "1024",
        "--swizzle",
        "128",
        "--absolute",
    )
    assert json_of("encode", *fields, "--arch", "sm_103")["descriptor"] == "0x4010404004800086"


def test_encode_48_bytes_of_k(json_of, output_of):
    arguments = ("encode", *PACKED, "--k-bytes", "48", "--start", "0x800")
    assert json_of(*arguments)["descriptors"][0][5] == "0x4010404008800487"
    assert "8 K blocks of 48 bytes, in two chunks: 2, 5" in output_of(*arguments)
    assert json_of("encode", *PACKED, "--k-bytes", "32")["operand"]["k_steps"][:5] == [
        0,
        2,
        4,
        6,
        1024,
    ]


def test_match(json_of):
    assert json_of("match", *TF32)["encoded"]["descriptor"] == "0x2000402001000000"
    assert json_of("match", ATOMS, "--element", "tf32")["mismatch"]["reason"].startswith(
        "the tile is M-"
    )
    shape = ("--shape", "128,32", "--strides", "1,128", "--swizzle", "128_atom_32")
    assert not json_of("match", *shape, "--element", "tf32", "--arch", "sm_100")["matches"]
    assert json_of("match", *TF32, "--rows", "64")["encoded"]["operand"]["rows"] == [64, 64]


def test_diagnose(json_of):
    data = json_of(
        "diagnose", *TF32, "--descriptor", "0x2000402001000000", "--k-steps", "0,64,128,192"
    )
    assert data["correct"]
    data = json_of("diagnose", *TF32, "--descriptor", "0x2000402001000000", "--k-steps", "0,32")
    assert data["causes"] == ["k step 1 is 32, where the layout has 64 (16-byte units)"]


@pytest.mark.parametrize(
    "arguments, lines",
    [
        (
            ["decode", "0x1", "--arch", "sm_80"],
            [
                "malformed arch: expected one of sm_90, sm_100, sm_103",
                "  sm_80",
                "  ^",
                "  for example sm_100",
            ],
        ),
        (
            ["decode", "0x1", "--element", "b1", "--arch", "sm_103"],
            [
                "malformed element type: expected one of f16, bf16, tf32, e4m3, e5m2, e2m1, e2m1_p64, "
                "e2m3_p32, e3m2_p32",
                "  b1",
                "  ^",
                "  for example bf16",
            ],
        ),
        (
            ["decode", "--instruction", "0x108400010", "--kind", "f16"],
            [
                "malformed --instruction: it does not fit 32 bits; expected -2147483648 to 4294967295 "
                "(0xffffffff)",
                "  0x108400010",
                "  ^",
                "  for example 0x08400010",
            ],
        ),
        (
            ["decode", "--instruction", "0x08400010", "--kind", "f32"],
            [
                "malformed kind: expected one of f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4",
                "  f32",
                "  ^",
                "  for example f16",
            ],
        ),
    ],
    ids=lambda value: " ".join(value[1:]) if value[0] == "decode" else None,
)
def test_malformed_texts(error_of, arguments, lines):
    assert error_of(*arguments).split("\n") == lines


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["decode"], "give one of a descriptor and --instruction"),
        (["decode", "0x1", "--instruction", "0x1"], "give one of a descriptor and --instruction"),
        (
            ["decode", "0x1", "--kind", "f16"],
            "--kind is for --instruction; for an operand, give --element",
        ),
        (
            ["decode", "--instruction", "0x1"],
            "--instruction needs --kind, one of f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4",
        ),
        (
            ["decode", "--instruction", "0x1", "--kind", "f16", "--rows", "64"],
            "--rows is for an operand, not for --instruction",
        ),
        (
            ["decode", "--instruction", "0x1", "--kind", "f16", "--arch", "sm_90"],
            "sm_90 has no instruction descriptors; sm_100 and sm_103 have",
        ),
        (
            ["encode", *PACKED, "--k-bytes", "64"],
            "--k-bytes is 64, but sm_103 reads 32 or 48 of each row",
        ),
        (
            ["encode", LONG, "--element", "e2m1", "--arch", "sm_100", "--k-bytes", "48"],
            "--k-bytes is 48, but sm_100 reads 32 of each row",
        ),
        (
            ["encode", *PACKED, "--k-bytes", "48", "--rows", "64"],
            "--rows is for a K of 32 bytes; for others, N is that of the mma",
        ),
        (
            ["encode", "--lbo", "0", "--sbo", "0", "--k-bytes", "48"],
            "--k-bytes is for a tile; for fields, give --absolute",
        ),
        (
            ["encode", *TF32, "--absolute"],
            "--lbo, --sbo, --base-offset and --absolute follow from the tile's layout",
        ),
        (
            ["encode", "--lbo", "0", "--sbo", "0", "--absolute"],
            "LBO is an absolute address, which only sm_103 has; on sm_90 it is a relative offset",
        ),
        (
            ["diagnose", *TF32, "--descriptor", "0x4000402001000000"],
            "tcgen05 reads tf32 MN-major with swizzle 128B_ATOM_32B, not 128B",
        ),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else None,
)  # fmt: skip
def test_invalid_arguments_of_tcgen05(error_of, arguments, message):
    assert error_of(*arguments) == message


def test_a_map_without_a_layout(error_of, tmp_path):
    file = tmp_path / "map.npy"
    places = np.arange(128 * 192).reshape(128, 192)
    places[5, 7] += 1
    np.save(file, places)
    more = ("--element", "e2m1", "--arch", "sm_103", "--k-bytes", "48")
    assert error_of("encode", "--map", str(file), *more) == "no layout matches the map"


BLOCKS = ("((32,4,2),(4,2)):((16,4,1024),(1,512))", "--element", "ue8m0", "--role", "scales")


def test_scale_factors(json_of, output_of):
    assert json_of("match", *BLOCKS)["matches"]
    data = json_of("encode", *BLOCKS, "--start", "0x400")
    assert data["descriptors"] == [
        ["0x0000400800000040", "0x0000400800000060"],
        ["0x0000400800000080", "0x00004008000000a0"],
    ]
    assert data["constant"] == "0x0000400800000000"
    strided = ("--shape", "128,4", "--strides", "4,1", "--element", "ue4m3", "--role", "scales")
    assert json_of("match", *strided, "--arch", "sm_103")["element"] == "e4m3"
    used = ("--descriptor", "0x0000400800000040", "--k-steps", "0,32")
    assert json_of("diagnose", *BLOCKS, *used)["correct"]
    assert not json_of("diagnose", *BLOCKS, *used, "--at", "0x800")["correct"]
    assert "nothing is suspicious" in output_of("decode", "0x0000400800000040", "--scales")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["match", *BLOCKS, "--rows", "64"], "--rows is for operands; scale factors have a layout, "),
        (
            ["match", "--map", "x.npy", *BLOCKS[1:]],
            "--map is for operands; scale factors have a layout, or --shape",
        ),
        (["match", *BLOCKS, "--shape", "1,1"], "give the tile by one of a layout, --shape "),
        (["encode", BLOCKS[0], "--role", "scales"], "a tile needs --element"),
        (["encode", *BLOCKS, "--k-bytes", "32"], "--k-bytes is for operands, not for scale factors"),
        (
            ["diagnose", *BLOCKS, "--major", "k", "--descriptor", "0"],
            "--major is for operands, not for scale factors",
        ),
        (
            ["match", *BLOCKS, "--arch", "sm_90"],
            "sm_90 takes no scale factors; sm_100 and sm_103 do",
        ),
        (
            ["match", BLOCKS[0], "--element", "e4m3", "--role", "scales"],
            "malformed type of scale factors: expected one of ue4m3, ue8m0\n  e4m3\n",
        ),
        (
            ["decode", "0x1", "--scales", "--element", "e2m1"],
            "--element is for an operand, not for --scales",
        ),
        (
            ["decode", "--instruction", "0x1", "--kind", "f16", "--scales"],
            "--scales is for a descriptor, not for --instruction",
        ),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else None,
)  # fmt: skip
def test_invalid_arguments_of_scale_factors(error_of, arguments, message):
    assert error_of(*arguments).startswith(message)
