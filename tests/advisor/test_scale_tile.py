"""Tiles of scale factors: matched, encoded, and the descriptors of their copies decoded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.advisor import decode_copy, diagnose_scales, match_scales
from mlir_smem.emulator.tcgen05.descriptors import decode_matrix
from mlir_smem.emulator.tensor_core.operands import matrix_bytes
from mlir_smem.layout import Arch, LayoutError, TileLayout, element, parse_layout
from mlir_smem.layout.modes import Mode
from mlir_smem.layout.tcgen05 import Tcgen05Descriptor, scale_blocks, scale_layout
from mlir_smem.layout.tcgen05.copies import copied_addresses

UE8M0 = element("ue8m0")
ONE, FOUR = scale_layout(UE8M0, 128, 4), scale_layout(UE8M0, 256, 8)
ROW_MAJOR = parse_layout("(128,8):(8,1)", UE8M0)

tiles = st.builds(
    scale_layout,
    st.sampled_from([UE8M0, element("e4m3")]),
    st.integers(1, 3).map(lambda n: 128 * n),
    st.integers(1, 4).map(lambda n: 4 * n),
    st.sampled_from([None, 2, 3]),
)


@given(tiles, st.integers(0, 15).map(lambda n: 16 * n))
def test_the_copies_read_the_whole_tile(tile, start):
    match = match_scales(tile)
    encoded = match.encoded(start)
    for index in range(len(match.stage_steps)):
        begin = start + 16 * match.stage_steps[index]
        stage = tile.stage(index) if len(tile.shape) == 3 else None
        addresses = start + (stage.offset if stage else 0) + match.stage.offsets()
        for block, row in enumerate(encoded.descriptors):
            for word, bits in enumerate(row):
                moved = bits + match.stage_steps[index]
                read = copied_addresses(Tcgen05Descriptor.decode(moved))
                part = addresses[128 * block : 128 * block + 128, 4 * word : 4 * word + 4]
                assert (read == part).all()
                assert decode_copy(moved).suspicions == ()
                assert (
                    Tcgen05Descriptor.decode(moved).start == begin + 16 * encoded.steps[block][word]
                )


@given(*[st.integers(0, 63)] * 2)
def test_the_emulator_copies_the_same_bytes(start, sbo):
    descriptor = Tcgen05Descriptor(16 * start, 0, 16 * sbo)
    # Indexed by line and byte: rows r, r + 32, r + 64 and r + 96 have 4 bytes each in line r.
    lines = matrix_bytes(decode_matrix(descriptor.encode(), False, 1), 8, False, 32, 16)
    expected = lines.reshape(32, 4, 4).transpose(1, 0, 2).reshape(128, 4)
    assert (copied_addresses(descriptor) == expected).all()


def test_text_of_a_matching_tile():
    assert str(match_scales(scale_layout(UE8M0, 128, 8, 2))) == (
        "matches      blocks of 128x4 factors, 512 bytes\n"
        "order        (stages, rows, factors), assumed; CuTe's (rows, factors, stages) is --order "
        "rows,factors,stages\n"
        "layout       Swizzle<0,4,3> o (2,(32,4),(4,2)):(1024,(16,4),(1,512))\n"
        "SBO          128 bytes\n"
        "descriptor   0x0000400800000000 | (address & 0x3ffff) >> 4\n"
        "blocks       +0, +32 (16-byte units; along K, then along the rows)\n"
        "stage steps  +0, +64 (16-byte units)\n"
        "columns      8 of tensor memory, 4 per word of four factors"
    )
    assert match_scales(ONE)._repr_html_().startswith("<table>")


def test_a_tile_that_does_not_match():
    match = match_scales(ROW_MAJOR)
    assert not match.data()["matches"]
    assert match.data()["nearest"] == {
        "layout": "Swizzle<0,4,3> o ((32,4),(4,2)):((16,4),(1,512))",
        "name": "blocks of 128x4 factors",
        "different": 1016,
        "total": 1024,
    }
    assert str(match).startswith(
        "no match  the factors are stored as Swizzle<0,4,3> o (128,8):(8,1); "
    )
    with pytest.raises(LayoutError, match=r"^the factors are stored as "):
        match.encoded()


def test_a_shape_without_blocks():
    match = match_scales(parse_layout("(96,4):(4,1)", UE8M0))
    assert match.nearest is None
    assert str(match).startswith("no match  factors of 96 rows, no multiple of 128; expected 128 ")


def test_stages_that_are_not_aligned():
    tile = TileLayout(UE8M0, (2, 128, 4), ((Mode(2, 520),), *ONE.modes))
    assert match_scales(tile).found.reason == (
        "a stage begins 520 bytes into the tile, not at a multiple of 16"
    )


def test_text_of_descriptors():
    encoded = match_scales(FOUR).encoded(0x400)
    assert str(encoded).split("\n")[2:] == [
        "rows     factors  start  column  descriptor",
        "-------  -------  -----  ------  ------------------",
        "0-127    0-3      0x400  +0      0x0000400800000040",
        "0-127    4-7      0x600  +8      0x0000400800000060",
        "128-255  0-3      0x800  +4      0x0000400800000080",
        "128-255  4-7      0xa00  +12     0x00004008000000a0",
    ]
    blocks = scale_blocks(FOUR)
    assert encoded.data()["columns"] == [[blocks.column(b, w) for w in (0, 1)] for b in (0, 1)]
    assert "<td>+12</td>" in encoded._repr_html_()


@pytest.mark.parametrize(
    "start, message",
    [
        (0x408, "a tile begins at a multiple of 16 bytes, not at 0x408"),
        (0x3FF00, "a tile of 512 bytes at 0x3ff00 ends above 0x40000, the limit "),
    ],
)
def test_illegal_starts(start, message):
    with pytest.raises(LayoutError) as error:
        match_scales(ONE).encoded(start)
    assert str(error.value).startswith(message)


RIGHT = Tcgen05Descriptor(0x400, 0, 128)


@pytest.mark.parametrize(
    "descriptor, arch, names",
    [
        (RIGHT, "sm_100", []),
        (Tcgen05Descriptor(0x400, 16, 128), "sm_103", []),
        (Tcgen05Descriptor(0x400, 512, 128), "sm_100", ["lbo-ignored"]),
        (Tcgen05Descriptor(0x400, 0, 256), "sm_100", ["copy-sbo"]),
        (Tcgen05Descriptor(0x3FF80, 0, 128), "sm_100", ["beyond-window"]),
    ],
)
def test_suspicions_of_copies(descriptor, arch, names):
    answer = decode_copy(descriptor.encode(), Arch.parse(arch))
    assert [suspicion.name for suspicion in answer.suspicions] == names
    assert answer.data()["reads"] == copied_addresses(descriptor).tolist()


def test_a_descriptor_of_an_operand_is_suspicious_for_a_copy():
    answer = decode_copy(0x4000404000010040)
    assert [suspicion.name for suspicion in answer.suspicions] == ["copy-swizzle", "copy-sbo"]
    assert answer.data()["reads"] is None
    without_version = decode_copy(RIGHT.encode() & ~(1 << 46))
    assert [suspicion.name for suspicion in without_version.suspicions] == ["version"]
    assert "<td>to the next 8 of 32 lines</td>" in answer._repr_html_()


def test_text_of_a_descriptor():
    lines = str(decode_copy(RIGHT.encode())).split("\n")
    assert lines[0] == "0x0000400800000040, 32 lines of 16 bytes: 4 factors of 128 rows"
    assert lines[-2:] == [
        "layout  Swizzle<0,4,3> o ((8,4),16):((16,128),1)",
        "nothing is suspicious",
    ]


def test_the_right_descriptor_has_no_causes():
    diagnosis = diagnose_scales(match_scales(FOUR), RIGHT.encode(), (0, 32))
    assert (diagnosis.causes, diagnosis.wrong.any()) == ((), False)
    rows, columns = np.indices(diagnosis.read.shape)
    assert (diagnosis.actual == np.stack([rows, columns], axis=-1)).all()


@pytest.mark.parametrize(
    "tile, descriptor, steps, start, causes",
    [
        (
            ONE,
            Tcgen05Descriptor(0x400, 0, 256),
            (0,),
            None,
            [
                "SBO is 256 bytes, but the 32 lines of a block are contiguous: expected 128",
                "expected descriptor 0x0000400800000040, steps 0 (16-byte units)",
            ],
        ),
        (
            FOUR,
            RIGHT,
            (0, 64),
            None,
            [
                "step 1 is 64, where the tile has 32 (16-byte units)",
                "expected descriptor 0x0000400800000040, steps 0, 32 (16-byte units)",
            ],
        ),
        (
            ONE,
            RIGHT,
            (0,),
            0x800,
            [
                "the start is 0x400, where the tile has 0x800",
                "expected descriptor 0x0000400800000080, steps 0 (16-byte units)",
            ],
        ),
        (
            ROW_MAJOR,
            RIGHT,
            (0,),
            None,
            [
                f"no descriptor reads the tile: {match_scales(ROW_MAJOR).found.reason}",
                f"nearest layout: {match_scales(ROW_MAJOR).nearest}",
            ],
        ),
    ],
    ids=["sbo", "step", "start", "row-major"],
)
def test_causes_of_wrong_factors(tile, descriptor, steps, start, causes):
    diagnosis = diagnose_scales(match_scales(tile), descriptor.encode(), steps, start)
    assert list(diagnosis.causes) == causes
    assert diagnosis.wrong.any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((ONE, RIGHT, (0, 32)), "2 copies read 128x8 factors, but the tile has 128x4"),
        ((ONE, RIGHT, (0,), 0x408), "a tile begins at a multiple of 16 bytes, not at 0x408"),
        (
            (ONE, Tcgen05Descriptor.decode(0x4000404000010040)),
            "blocks of scale factors have no swizzle, not 128B",
        ),
        ((ONE, RIGHT, (-65,)), "start is -16 bytes; a descriptor holds "),
    ],
)
def test_errors_of_a_comparison(arguments, message):
    tile, descriptor, *more = arguments
    with pytest.raises(LayoutError) as error:
        diagnose_scales(match_scales(tile), descriptor.encode(), *more)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "call", [lambda: match_scales(ONE, Arch.SM_90), lambda: decode_copy(0, Arch.SM_90)]
)
def test_wgmma_has_no_scale_factors(call):
    with pytest.raises(LayoutError) as error:
        call()
    assert str(error.value) == "sm_90 takes no scale factors; sm_100 and sm_103 do"


def test_65_bits():
    with pytest.raises(LayoutError, match="0x10000000000000000 is not a 64-bit value"):
        decode_copy(1 << 64)
