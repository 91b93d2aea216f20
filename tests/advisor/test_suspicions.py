"""Each suspicion: a descriptor that raises it, and similar ones that do not."""

import pytest
from oracle import ROWS, SWIZZLES

from mlir_smem.advisor import decode
from mlir_smem.layout import Major, Swizzle, element
from mlir_smem.layout import WgmmaDescriptor as WgmmaDescriptor

BF16 = element("bf16")
NONE, B32, B64, B128 = Swizzle.NONE, Swizzle.B32, Swizzle.B64, Swizzle.B128
KILO = 1024


def names(descriptor, major=Major.K, element_name="bf16", rows=64, tile=None, bits=0):
    """Return the names of the suspicions about a descriptor with additional bits set."""
    answer = decode(descriptor.encode() | bits, element(element_name), major, rows, tile)
    return [suspicion.name for suspicion in answer.suspicions]


def sentence(name, *args, **kwargs):
    """Return the sentence of a suspicion."""
    (text,) = [s.text for s in decode(*args, **kwargs).suspicions if s.name == name]
    return text


GOOD = WgmmaDescriptor(KILO, 16, KILO, 0, B128)


# The fields alone.


def test_nothing():
    assert names(GOOD) == []
    assert decode(GOOD.encode()).suspicions == ()


@pytest.mark.parametrize("bit", [14, 15, 30, 31, 47, 48, *range(52, 62)])
def test_reserved_bits(bit):
    assert names(GOOD, bits=1 << bit) == ["reserved-bits"]
    assert sentence("reserved-bits", GOOD.encode() | 1 << bit) == (
        f"the bits {1 << bit:#018x} belong to no field of a wgmma descriptor and must be 0"
    )


def test_a_descriptor_of_tcgen05():
    assert names(GOOD, bits=1 << 46) == ["tcgen05-version"]
    assert sentence("tcgen05-version", GOOD.encode() | 1 << 46) == (
        "bits 46-48 are 1, the version of a tcgen05 descriptor; wgmma descriptors have no version: "
        "--arch sm_100 decodes it as tcgen05"
    )


def test_a_descriptor_of_tcgen05_with_more_of_its_bits():
    assert names(GOOD, bits=1 << 46 | 1 << 52) == ["tcgen05-version", "reserved-bits"]


def test_reserved_bits_are_ignored():
    data = decode(GOOD.encode() | 1 << 46 | 1 << 15, BF16, Major.K).data()
    assert data["reads"] == decode(GOOD.encode(), BF16, Major.K).data()["reads"]


def test_a_base_offset_without_swizzle():
    plain = WgmmaDescriptor(KILO, 128, 256)
    assert names(plain, bits=3 << 49) == ["base-offset-without-swizzle"]
    assert sentence("base-offset-without-swizzle", plain.encode() | 3 << 49) == (
        "the base offset is 3, but without swizzle it must be 0"
    )


@pytest.mark.parametrize(
    "swizzle, start, base_offset, expected",
    [
        # Along the first line of an aligned pattern, and at the next ones.
        (B128, KILO, 0, []),
        (B128, KILO + 112, 0, []),
        (B128, 4 * KILO, 0, []),
        (B64, 512, 0, []),
        (B32, 256 + 16, 0, []),
        # At other lines, with the base offset that they need.
        (B128, KILO + 128, 1, []),
        (B128, KILO + 7 * 128 + 32, 7, []),
        (B64, 512 + 128, 1, []),
        (B32, 128, 1, []),
        # The same without base offset: subtiles of aligned tiles, or wrong.
        (B128, KILO + 128, 0, ["start-off-pattern"]),
        (B64, 512 + 64, 0, ["start-off-pattern"]),
        (B32, 64, 0, ["start-off-pattern"]),
        # A base offset that is not needed, or wrong.
        (B128, KILO, 1, ["base-offset"]),
        (B128, KILO + 96, 7, ["base-offset"]),
        (B128, KILO + 128, 2, ["base-offset"]),
        (B64, 512 + 64, 1, ["base-offset"]),
        # Modulo the lines of a pattern: 4 of 64B, 2 of 32B.
        (B64, 512, 4, []),
        (B32, 256, 2, []),
    ],
)
def test_base_offset_against_start(swizzle, start, base_offset, expected):
    d = WgmmaDescriptor(start, 16, swizzle.pattern_bytes, base_offset, swizzle)
    assert names(d) == expected


@pytest.mark.parametrize(
    "swizzle, tile, base_offset, expected",
    [
        (B128, KILO, 0, []),
        (B128, KILO + 384, 3, []),
        (B128, KILO + 384, 0, ["base-offset"]),
        (B128, KILO, 3, ["base-offset"]),
        (B128, KILO + 64, 0, ["base-offset"]),
    ],
)
def test_base_offset_where_the_tile_is_known(swizzle, tile, base_offset, expected):
    # A subtile at the tile's fourth line has the base offset of the tile.
    d = WgmmaDescriptor(tile // 128 * 128 + 384, 16, KILO, base_offset, swizzle)
    assert names(d, tile=tile) == expected


@pytest.mark.parametrize(
    "d, tile, name, text",
    [
        (
            WgmmaDescriptor(KILO, 16, KILO, 3, B128),
            None,
            "base-offset",
            "the base offset is 3, but a tile that starts at 0x400 needs base offset 0",
        ),
        (
            WgmmaDescriptor(KILO + 256, 16, KILO, 0, B128),
            None,
            "start-off-pattern",
            "the start 0x500 is 256 bytes into the 1024 of a 128B pattern, and the base offset is 0: "
            "right for a subtile of a tile that is aligned to 1024, but a tile that starts here needs "
            "base offset 2",
        ),
        (
            WgmmaDescriptor(64, 16, 256, 0, B32),
            None,
            "start-off-pattern",
            "the start 0x40 is 64 bytes into the 256 of a 32B pattern, and the base offset is 0: right "
            "for a subtile of a tile that is aligned to 256, but a tile that starts here cannot have "
            "this swizzle: a pattern starts at a multiple of 128",
        ),
        (
            WgmmaDescriptor(KILO, 16, KILO, 0, B128),
            0x440,
            "base-offset",
            "the base offset is 0, but the tile at 0x440 cannot have this swizzle: a pattern starts at a "
            "multiple of 128",
        ),
    ],
)
def test_sentences_about_the_base_offset(d, tile, name, text):
    assert sentence(name, d.encode(), tile=tile) == text


# The operand.


@pytest.mark.parametrize("lbo, expected", [(0, []), (16, []), (32, ["lbo-ignored"])])
def test_an_lbo_that_is_ignored(lbo, expected):
    assert names(WgmmaDescriptor(KILO, lbo, KILO, 0, B128)) == expected


def test_the_sentence_about_an_lbo_that_is_ignored():
    assert sentence(
        "lbo-ignored", WgmmaDescriptor(0, 2048, 512, 0, B64).encode(), BF16, Major.K
    ) == (
        "LBO is 2048 bytes, but it is not used for a K-major operand with swizzle 64B; usual values "
        "are 0 and 1 (16 bytes)"
    )


@pytest.mark.parametrize(
    "d, major, rows, expected",
    [
        (WgmmaDescriptor(0, 16, 512, 0, B128), Major.K, 64, ["sbo-small", "overlap"]),
        (WgmmaDescriptor(0, 16, 512, 0, B128), Major.K, 8, []),
        (WgmmaDescriptor(0, 16, 0, 0, B128), Major.K, 8, []),
        (WgmmaDescriptor(0, 64, 2048, 0, NONE), Major.K, 64, ["lbo-small", "overlap"]),
        (WgmmaDescriptor(0, 2048, 112, 0, NONE), Major.K, 64, ["sbo-small", "overlap"]),
        (WgmmaDescriptor(0, 2048, 112, 0, NONE), Major.K, 8, []),
        (WgmmaDescriptor(0, 256, 1024, 0, B128), Major.MN, 128, ["lbo-small", "overlap"]),
        (WgmmaDescriptor(0, 256, 1024, 0, B128), Major.MN, 64, []),
        (WgmmaDescriptor(0, 4096, 256, 0, B64), Major.MN, 64, ["sbo-small", "overlap"]),
    ],
)
def test_strides_below_an_atom(d, major, rows, expected):
    assert names(d, major, rows=rows) == expected


def test_the_sentences_about_strides_below_an_atom():
    bits = WgmmaDescriptor(0, 16, 512, 0, B128).encode()
    assert sentence("sbo-small", bits, BF16, Major.K) == (
        "SBO is 512 bytes, less than the 1024 of the 8 lines of 128 bytes that it steps over"
    )
    assert sentence("overlap", bits, BF16, Major.K) == (
        "elements (4,0) and (8,0) of (m/n, k) are both read at 0x240"
    )


def test_atoms_may_be_apart_and_still_overlap():
    d = WgmmaDescriptor(0, 256, 256)
    assert names(d) == ["overlap"]
    assert names(WgmmaDescriptor(0, 128, 256)) == []


def test_bits_of_one_byte_do_not_overlap():
    assert names(GOOD, element_name="b1") == []
    assert "overlap" in names(WgmmaDescriptor(0, 16, 0, 0, B128), element_name="b1")


@pytest.mark.parametrize("sbo, expected", [(2048, []), (1040, ["sbo-off-pattern"])])
def test_atoms_off_the_swizzle_pattern(sbo, expected):
    assert names(WgmmaDescriptor(KILO, 16, sbo, 0, B128)) == expected


def test_the_sentence_about_atoms_off_the_swizzle_pattern():
    bits = WgmmaDescriptor(0, 544, 512, 0, B64).encode()
    assert sentence("lbo-off-pattern", bits, BF16, Major.MN) == (
        "LBO is 544 bytes, not a multiple of the 512 after which the swizzle 64B repeats: consecutive "
        "atoms are swizzled differently"
    )


@pytest.mark.parametrize(
    "d, major, exchanged",
    [
        (WgmmaDescriptor(KILO, KILO, 16, 0, B128), Major.K, True),
        (WgmmaDescriptor(KILO, KILO, 16, 0, B128), Major.MN, True),
        (WgmmaDescriptor(KILO, 16, KILO, 0, B128), Major.K, False),
        (WgmmaDescriptor(KILO, 16, 512, 0, B128), Major.K, False),
        (WgmmaDescriptor(KILO, 2048, 256, 0, NONE), Major.K, False),
        (WgmmaDescriptor(KILO, 1024, 128, 0, NONE), Major.K, False),
    ],
)
def test_lbo_and_sbo_exchanged(d, major, exchanged):
    assert ("exchanged" in names(d, major)) is exchanged


def test_the_sentence_about_an_exchange():
    assert sentence("exchanged", WgmmaDescriptor(0, 1024, 16, 0, B128).encode(), BF16, Major.K) == (
        "LBO 1024 and SBO 16 look exchanged: with LBO 16 and SBO 1024 no two elements overlap"
    )


def test_mn_major_data_of_a_type_that_is_read_k_major_only():
    assert names(GOOD, Major.MN, "tf32") == ["type"]
    answer = decode(GOOD.encode(), element("tf32"), Major.MN)
    assert answer.suspicions[0].text == (
        "wgmma reads tf32 K-major only; MN-major is for 16-bit types"
    )
    assert (answer.layout, answer.ranges, answer.data()["reads"]) == (None, (), None)


def test_a_type_that_is_not_an_a_or_b_type():
    assert (
        sentence("type", GOOD.encode(), element("s32"))
        == "s32 is not an A or B element type of wgmma"
    )


@pytest.mark.parametrize("rows, expected", [(64, []), (32, ["swizzle-wide"])])
def test_a_swizzle_wider_than_the_operand(rows, expected):
    assert names(GOOD, Major.MN, rows=rows) == expected


def test_the_sentence_about_a_wide_swizzle():
    assert sentence("swizzle-wide", GOOD.encode(), BF16, Major.MN, 32) == (
        "a line of the 128B swizzle has 64 elements along m/n, but the instruction reads 32: right "
        "only in a tile of 64 or more"
    )


@pytest.mark.parametrize(
    "start, expected",
    [
        (228 * KILO - 8192, []),
        (228 * KILO - 7168, ["beyond-shared-memory"]),
        ((1 << 18) - 8192, ["beyond-shared-memory"]),
        ((1 << 18) - 7168, ["beyond-window"]),
    ],
)
def test_reads_beyond_the_end(start, expected):
    assert names(WgmmaDescriptor(start, 16, KILO, 0, B128)) == expected


def test_the_sentences_about_the_end():
    over = WgmmaDescriptor(228 * KILO - 7168, 16, KILO, 0, B128).encode()
    assert sentence("beyond-shared-memory", over, BF16, Major.K) == (
        "it reads up to 0x393ff, but the shared memory of a CTA ends at 0x39000: 227 KB after 1 KB "
        "that the system reserves"
    )
    far = WgmmaDescriptor((1 << 18) - 1024, 16, KILO, 0, B128).encode()
    assert sentence("beyond-window", far, BF16, Major.K).endswith(
        "but descriptor addresses end at 0x40000 (2^18)"
    )


# CuTe's descriptors.


def test_cutes_descriptors_raise_only_true_suspicions():
    wide = 0
    for row in ROWS:
        answer = decode(
            int(row["desc_hex"], 16),
            element(row["dtype"]),
            Major[row["major"]],
            row["inst_mn"],
        )
        names = [suspicion.name for suspicion in answer.suspicions]
        assert set(names) <= {"swizzle-wide"}, (row, names)
        wide += len(names)
    assert wide == sum(
        row["major"] == "MN"
        and row["swizzle"] != "INTER"
        and SWIZZLES[row["swizzle"]].width // 2 > row["inst_mn"]
        for row in ROWS
    )
