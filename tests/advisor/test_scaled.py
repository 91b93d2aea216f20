"""The scale factors of a choice."""

import pytest

from mlir_smem.advisor import choose_operands
from mlir_smem.layout import LayoutError
from mlir_smem.layout.tcgen05 import KINDS, InstructionDescriptor


def factors_of(a, b, **options):
    return choose_operands(a, b, **({"arch": "sm_100"} | options)).data()["mma"]["scale_factors"]


def test_tiles_copies_and_k_blocks():
    factors = factors_of("128x256xe2m1", "256x192xe2m1", scale="ue8m0")
    assert (factors["type"], factors["block"], factors["factors"]) == ("ue8m0", 32, 2)
    # B's rows are N, rounded up to 128.
    assert (factors["a"]["shape"], factors["b"]["shape"]) == ([128, 8], [256, 8])
    assert factors["b"]["copies"] == [
        {"offset": 0, "descriptor": "0x0000400800000000", "column": 0},
        {"offset": 512, "descriptor": "0x0000400800000020", "column": 8},
        {"offset": 1024, "descriptor": "0x0000400800000040", "column": 4},
        {"offset": 1536, "descriptor": "0x0000400800000060", "column": 12},
    ]
    assert (factors["a"]["columns"], factors["b"]["columns"]) == (8, 16)
    assert [(k_block["k"], k_block["word"], k_block["id"]) for k_block in factors["k_blocks"]] == [
        (0, 0, 0),
        (64, 0, 2),
        (128, 1, 0),
        (192, 1, 2),
    ]
    for k_block in factors["k_blocks"]:
        (bits,) = k_block["descriptors"]
        read = InstructionDescriptor.decode(int(bits, 0), KINDS["mxf4"])
        assert (read.a_scale, read.b_scale, read.n) == (k_block["id"], k_block["id"], 192)


@pytest.mark.parametrize(
    "a, b, options, per_row, words",
    [
        ("128x128xe4m3", "128x64xe5m2", {"scale": "ue8m0"}, 1, [(0, 0), (0, 1), (0, 2), (0, 3)]),
        ("128x128xe2m1", "128x64xe2m1", {"scale": "ue4m3"}, 4, [(0, 0), (1, 0)]),
        (
            "128x768xe2m1",
            "768x64xe2m1",
            {"scale": "ue8m0", "arch": "sm_103", "k_bytes": 48},
            3,
            [(0, 0), (0, 3), (1, 2), (2, 1), (3, 0), (3, 3), (4, 2), (5, 1)],
        ),
        (
            "128x768xe2m1",
            "768x64xe2m1",
            {"scale": "ue4m3", "arch": "sm_103", "k_bytes": 48},
            6,
            [(0, 0), (1, 2), (3, 0), (4, 2), (6, 0), (7, 2), (9, 0), (10, 2)],
        ),
    ],
)
def test_words_and_ids_of_each_kind(a, b, options, per_row, words):
    factors = factors_of(a, b, **options)
    assert factors["factors"] == per_row
    assert [(k_block["word"], k_block["id"]) for k_block in factors["k_blocks"]] == words


def test_each_cta_of_a_pair_has_the_factors_of_all_of_b():
    factors = factors_of("128x64xe2m1", "64x128xe2m1", scale="ue8m0", ctas=2)
    assert (factors["a"]["shape"], factors["b"]["shape"]) == ([128, 4], [256, 4])


def test_factors_count_among_the_columns():
    mma = choose_operands("128x256xe2m1", "256x256xe2m1", arch="sm_100", scale="ue8m0").data()[
        "mma"
    ]
    assert (mma["columns"], mma["allocated_columns"]) == (256, 512)
    with pytest.raises(LayoutError, match="512 columns of tensor memory, and scale factors 16; a "):
        choose_operands("256x128xe2m1", "128x256xe2m1", arch="sm_100", scale="ue8m0")


@pytest.mark.parametrize(
    "scale, block, expected",
    [
        ("ue8m0", None, ("mxf4", 32)),
        ("ue8m0", 32, ("mxf4", 32)),
        ("ue8m0", 16, ("mxf4nvf4", 16)),
        ("ue4m3", None, ("mxf4nvf4", 16)),
    ],
)
def test_the_kind_follows_from_the_factors(scale, block, expected):
    chosen = choose_operands(
        "128x256xe2m1", "256x64xe2m1", arch="sm_100", scale=scale, block=block
    ).data()["mma"]
    assert (chosen["kind"], chosen["block"]) == expected
    assert chosen["scale_factors"]["factors"] == 64 // expected[1]
    assert chosen["instructions"][0]["instruction"].endswith(f".block_scale.block{expected[1]}")


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"scale": "ue4m3", "block": 32},
            "tcgen05 does not multiply e2m1 by e2m1 with one ue4m3 scale factor per 32 elements "
            "along K; expected one per 16",
        ),
        (
            {"scale": "ue8m0", "block": 64},
            "tcgen05 does not multiply e2m1 by e2m1 with one ue8m0 scale factor per 64 elements "
            "along K; expected one per 16 or 32",
        ),
        ({"block": 16}, "16 elements per scale factor, but no scale factors (--scaled)"),
    ],
)
def test_illegal_scale_factors(options, message):
    with pytest.raises(LayoutError) as error:
        choose_operands("128x256xe2m1", arch="sm_100", **options)
    assert str(error.value) == message


def test_no_factors_without_scales():
    assert factors_of("128x64xbf16", "64x64xbf16") is None


TEXT = """\
  Scale factors: ue8m0, one per 32 elements along K; an instruction reads 1 of each row

       rows  factors  layout                                  bytes  columns  per word
    -  ----  -------  --------------------------------------  -----  -------  --------
    A  128   4        Swizzle<0,4,3> o ((32,4),4):((16,4),1)  512    4        4
    B  128   4        Swizzle<0,4,3> o ((32,4),4):((16,4),1)  512    4        4

    A block of 512 bytes, a word of 4 factors for 128 rows, is copied to 4 columns:
    tcgen05.cp.cta_group::1.32x128b.warpx4, descriptor 0x0000400800000000 | (address & 0x3ffff) >> 4

    k      word  A's column  B's column  ID  instruction descriptor
    -----  ----  ----------  ----------  --  ----------------------
    0-31   0     +0          +0          0   0x08900000
    32-63  0     +0          +0          1   0x28900010"""


def test_the_text():
    text = str(
        choose_operands("128x64xe4m3", "64x64xe4m3", arch="sm_100", scale="ue8m0", b_major="k")
    )
    assert "D takes 64 columns of tensor memory, scale factors 8; allocate 128" in text
    assert text[text.index("  Scale factors") :] == TEXT
