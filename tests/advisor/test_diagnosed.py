"""A written layout compared with a descriptor: differences, causes, expected descriptor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import operands

from mlir_smem.advisor import diagnose, encode_operand, match_map, match_tile, operand_of
from mlir_smem.layout import LayoutError, Major, Role, Swizzle, element, parse_layout, tile_of_atoms
from mlir_smem.layout import WgmmaDescriptor as Descriptor
from mlir_smem.layout.element_map import element_offsets
from mlir_smem.layout.wgmma import MULTIPLICANDS

BF16 = element("bf16")
NONE, B32, B64, B128 = Swizzle.NONE, Swizzle.B32, Swizzle.B64, Swizzle.B128
ATOMS = tile_of_atoms(BF16, (128, 128), 1, B128)
A, B = match_tile(ATOMS, Role.A), match_tile(ATOMS, Role.B)
RIGHT_A = Descriptor(0x400, 16, 1024, 0, B128)
RIGHT_B = Descriptor(0x400, 16384, 1024, 0, B128)


def causes(written, descriptor, *args, **kwargs):
    """Return the causes of a diagnosis."""
    return list(diagnose(written, descriptor.encode(), *args, **kwargs).causes)


@given(operands().filter(lambda o: o.tile.element in MULTIPLICANDS), st.integers(0, 3))
def test_the_right_descriptor_reads_every_element_where_it_was_written(operand, patterns):
    begin = patterns * operand.tile.alignment
    right = encode_operand(operand_of(operand.oriented_tile, operand.role), begin)
    answer = diagnose(
        match_tile(operand.oriented_tile, operand.role),
        right.bits,
        right.operand.k_steps,
        tile=begin,
    )
    assert not answer.wrong.any()
    assert answer.read.shape[1] == operand.tile.shape[1]
    rows, columns = np.indices(answer.read.shape)
    assert (answer.actual == np.stack([rows, columns], axis=-1)).all()
    assert answer.causes == ()


def test_text_without_differences():
    answer = diagnose(A, RIGHT_A.encode(), (0, 2, 4, 6))
    assert str(answer) == "all 4096 elements are read where they were written"
    assert answer.data()["correct"] is True


def test_text_of_a_wrong_sbo():
    assert str(diagnose(A, Descriptor(0x400, 16, 512, 0, B128).encode())) == (
        "896 of 1024 elements are read from a wrong address: 896 from that of another element, "
        "0 from unwritten memory\n"
        "SBO is 512, where the layout has 1024: m/n 8..63, k 0..15 are read at addresses 512 to 3584 "
        "bytes too low\nexpected descriptor 0x4000004000010040, k steps 0, 2, 4, 6, 1024, 1026, 1028, "
        "1030 (16-byte units)\n\n"
        "element  written at  read at  element read\n"
        "-------  ----------  -------  ------------\n"
        "(8,0)    0x800       0x640    (4,0)\n"
        "(8,8)    0x810       0x650    (4,8)\n"
        "(9,0)    0x890       0x6d0    (5,0)\n"
        "(9,8)    0x880       0x6c0    (5,8)\n"
        "(10,0)   0x920       0x760    (6,0)\n"
        "(10,8)   0x930       0x770    (6,8)\n"
        "(11,0)   0x9b0       0x7f0    (7,0)\n"
        "(11,8)   0x9a0       0x7e0    (7,8)"
    )


def test_actual_elements_were_written_where_they_are_read():
    answer = diagnose(A, Descriptor(0x400, 16, 512, 0, B128).encode())
    for r, k in np.argwhere(answer.wrong):
        assert answer.written[tuple(answer.actual[r, k])] == answer.read[r, k]


def test_json_of_a_wrong_sbo():
    data = diagnose(A, Descriptor(0x400, 16, 512, 0, B128).encode()).data()
    assert (data["correct"], data["wrong"], data["total"]) == (False, 896, 1024)
    assert data["actual"][8][0] == [4, 0]
    assert data["read"][8][0] * 2 == 0x640
    assert data["written"][8][0] * 2 == 0x800
    assert data["expected"]["descriptor"] == "0x4000004000010040"


def test_unwritten_memory_is_read():
    answer = diagnose(A, Descriptor(0x400, 16, 8192, 0, B128).encode())
    assert answer.data()["summary"] == (
        "896 of 1024 elements are read from a wrong address: 384 from that of another element, "
        "512 from unwritten memory"
    )
    assert (int(answer.wrong.sum()), answer.displaced) == (896, 384)
    assert answer.data()["actual"][63][0] is None
    assert (answer.actual[-1, 0] == -1).all()


def test_nothing_was_written_between_atoms():
    apart = parse_layout("Swizzle<3,4,3> o ((8,8),64):((64,1024),1)", BF16)
    answer = diagnose(match_tile(apart, Role.A), RIGHT_A.encode())
    assert answer.data()["actual"][8][0] is None
    assert answer.data()["actual"][16][0] == [8, 0]


# One cause each.


@pytest.mark.parametrize(
    "written, descriptor, k_steps, expected",
    [
        (
            A,
            Descriptor(0x400, 2048, 1024, 0, B128),
            (0, 2),
            [],
        ),
        (
            A,
            Descriptor(0x400, 16, 1024, 0, B64),
            (0, 2),
            [
                "the swizzle is 64B, where the layout has 128B: 16-byte units are read from other "
                "positions of their lines"
            ],
        ),
        (
            A,
            Descriptor(0x400, 16, 1024, 3, B128),
            (0, 2),
            [
                "the base offset is 3, where the layout has 0: 16-byte units are read from other "
                "positions of their lines"
            ],
        ),
        (A, RIGHT_A, (0, 4), ["k step 1 is 4, where the layout has 2 (16-byte units)"]),
        (
            B,
            Descriptor(0x400, 8192, 1024, 0, B128),
            (0, 128),
            [
                "LBO is 8192, where the layout has 16384: m/n 64..127, k 0..15 of each instruction are "
                "read at addresses 8192 bytes too low"
            ],
        ),
        (
            B,
            Descriptor(0x400, 16384, 2048, 0, B128),
            (0, 128),
            [
                "SBO is 2048, where the layout has 1024: m/n 0..127, k 8..15 of each instruction are "
                "read at addresses 1024 bytes too high"
            ],
        ),
        (
            B,
            Descriptor(0x400, 1024, 16384, 0, B128),
            (0,),
            [
                "LBO and SBO are exchanged",
                "LBO is 1024, where the layout has 16384: m/n 64..127, k 0..15 are read at addresses "
                "15360 bytes too low",
                "SBO is 16384, where the layout has 1024: m/n 0..127, k 8..15 are read at addresses "
                "15360 bytes too high",
            ],
        ),
    ],
)
def test_causes(written, descriptor, k_steps, expected):
    assert causes(written, descriptor, k_steps) == expected


def test_another_start():
    assert causes(A, Descriptor(0x420, 16, 1024, 0, B128), tile=0x400) == [
        "the start is 0x420, where the layout has 0x400: m/n 0..63, k 0..15 are read at addresses 32 "
        "bytes too high"
    ]


def test_a_nonzero_first_step_moves_the_start():
    assert causes(A, RIGHT_A, (2, 4)) == [
        "the start is 0x420, where the layout has 0x400: m/n 0..63, k 0..15 of each instruction are read "
        "at addresses 32 bytes too high"
    ]


def test_a_tile_without_a_legal_base_offset():
    assert causes(A, RIGHT_A, tile=0x440) == [
        "a 128B pattern cannot start at 0x440: the base offset counts lines of 128 bytes"
    ]


@given(
    st.sampled_from([A, B, match_tile(tile_of_atoms(BF16, (64, 64), 0, NONE), Role.A)]),
    st.sampled_from([0x400, 0x410, 0x480]),
    st.sampled_from([0, 16, 128, 1024, 8192, 16384]),
    st.sampled_from([16, 128, 1024, 2048]),
    st.integers(0, 7),
    st.sampled_from([NONE, B32, B64, B128]),
    st.sampled_from([(0,), (0, 2), (0, 128), (2, 4), (1,)]),
    st.sampled_from([None, Major.K, Major.MN]),
    st.sampled_from([None, 0x400, 0x480]),
)
def test_there_are_causes_exactly_where_elements_differ(
    written, start, lbo, sbo, offset, swizzle, k_steps, major, tile
):
    d = Descriptor(start, lbo, sbo, 0 if swizzle is NONE else offset, swizzle)
    answer = diagnose(written, d.encode(), k_steps, major, tile=tile)
    assert bool(answer.causes) == bool(answer.wrong.any())


def test_another_major():
    square = match_tile(tile_of_atoms(BF16, (64, 64), 1, B128), Role.A)
    assert causes(square, RIGHT_A, major=Major.MN) == [
        "the instruction reads the operand as MN-major, but the tile is K-major"
    ]


def test_a_tile_that_was_written_without_swizzle():
    plain = match_tile(parse_layout("(128,64):(64,1)", BF16), Role.A)
    answer = diagnose(plain, RIGHT_A.encode(), (0, 2, 4, 6))
    mismatch, reads, hint, nearest = answer.causes
    assert mismatch.startswith("no descriptor reads the tile: the MMA tile of 64x16 at")
    assert reads == "this descriptor reads Swizzle<3,4,3> o ((8,8),(8,2)):((64,512),(1,8))"
    assert hint == ("the strides match: the tile is written with swizzle none, and read with 128B")
    assert nearest.startswith("nearest layout: Swizzle<3,4,3> o (128,64):(64,1) (swizzle 128B")
    # The XOR of a row's number leaves the units of every eighth row in place.
    assert [row for row in range(64) if not answer.wrong[row].any()] == list(range(0, 64, 8))
    assert answer.expected is None


def test_a_row_major_tile_of_a_type_that_is_read_along_columns():
    # B (K, N), contiguous along N: the instruction takes tf32 as K-major all the same.
    tile = match_tile(tile_of_atoms(element("tf32"), (32, 64), 1, B128), Role.B)
    assert "wgmma reads tf32 K-major only" in causes(tile, RIGHT_A)[0]


def test_the_first_instruction_of_an_unreadable_b_is_compared():
    plain = match_tile(parse_layout("(64,512):(1,72)", BF16), Role.B)
    assert diagnose(plain, RIGHT_B.encode()).read.shape == (256, 16)


def test_a_b_that_no_instruction_has():
    narrow = match_tile(parse_layout("(64,1):(1,64)", BF16), Role.B)
    with pytest.raises(
        LayoutError, match="an operand of 1 rows; expected 64 for A, and a multiple"
    ):
        diagnose(narrow, RIGHT_B.encode())


def test_undefined_bits():
    bits = RIGHT_A.encode() | 1 << 46 | 1 << 52
    first, second = diagnose(A, bits).causes
    assert first.startswith("bits 46-48 are 1, the version of a tcgen05 descriptor")
    assert second.startswith("the bits 0x0010000000000000 belong to no field")


def test_a_map_that_was_written():
    places = element_offsets(ATOMS)
    places[3, 5] += 8
    answer = diagnose(match_map(places + 0x400 // 2, BF16, Role.A), RIGHT_A.encode())
    assert np.argwhere(answer.wrong).tolist() == [[3, 5]]
    assert answer.causes[0].startswith("no descriptor reads the tile: no swizzle and strides match")


def test_of_stages_the_first():
    stages = match_tile(tile_of_atoms(BF16, (3, 128, 128), 1, B128), Role.A)
    assert not diagnose(stages, RIGHT_A.encode(), (0, 2)).wrong.any()


def test_in_a_notebook():
    shown = diagnose(A, Descriptor(0x400, 16, 512, 0, B128).encode())._repr_html_()
    assert "<li>SBO is 512, where the layout has 1024" in shown
    assert "<td>(8,0)</td><td>0x800</td><td>0x640</td><td>(4,0)</td>" in shown
    assert "<table>" not in diagnose(A, RIGHT_A.encode())._repr_html_()


# Errors.


@pytest.mark.parametrize(
    "kwargs, problem",
    [
        (
            {"k_steps": (0,) * 9},
            r"9 instructions read 64 x 144 of \(m/n, k\), but the tile has 128 x 128",
        ),
        ({"rows": 256}, r"1 instructions read 256 x 16 of \(m/n, k\), but the tile has 128 x 128"),
        (
            {"k_steps": (1 << 14,)},
            "start is 263168 bytes; a descriptor holds multiples of 16 below",
        ),
        ({"tile": 0x408}, "a tile begins at a multiple of 16 bytes, not at 0x408"),
        ({"tile": (1 << 64) - 16}, "a tile begins below 0x40000, not at 0xfffffffffffffff0"),
    ],
)
def test_reads_outside_the_tile(kwargs, problem):
    with pytest.raises(LayoutError, match=problem):
        diagnose(A, RIGHT_A.encode(), **kwargs)


def test_mn_major_of_a_type_that_is_read_k_major_only():
    tile = match_tile(tile_of_atoms(element("tf32"), (64, 32), 1, B128), Role.A)
    with pytest.raises(LayoutError, match="wgmma reads tf32 K-major only; MN-major is for 16-bit"):
        diagnose(tile, RIGHT_A.encode(), major=Major.MN)
