"""Scale factors of block-scaled kinds: blocks in shared memory, places in tensor memory, ids."""

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.layout import (
    LayoutError,
    Mismatch,
    Multiple,
    PathElement,
    Swizzle,
    choose,
    element,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.tcgen05 import (
    KINDS,
    MmaShape,
    ScaleUse,
    blocked,
    check_scale_id,
    scale_blocks,
    scale_factors,
    scale_layout,
    scale_step,
    unblocked,
)

UE8M0, E4M3 = element("ue8m0"), element("e4m3")


@pytest.mark.parametrize("rows, factors", [(128, 4), (128, 16), (384, 4), (256, 12)])
@pytest.mark.parametrize("element_type", [UE8M0, E4M3], ids=str)
def test_a_tile_has_the_isas_layout(element_type, rows, factors):
    offsets = scale_layout(element_type, rows, factors).offsets()
    r, f = np.ogrid[:rows, :factors]
    inside = r % 32 * 16 + r % 128 // 32 * 4 + f % 4
    assert np.array_equal(offsets, (r // 128 * (factors // 4) + f // 4) * 512 + inside)


def test_a_tile_in_words():
    assert str(scale_layout(UE8M0, 256, 8)) == (
        "Swizzle<0,4,3> o ((32,4,2),(4,2)):((16,4,1024),(1,512))"
    )
    assert str(scale_layout(UE8M0, 128, 8, stages=3)) == (
        "Swizzle<0,4,3> o (3,(32,4),(4,2)):(1024,(16,4),(1,512))"
    )


@pytest.mark.parametrize(
    "element_type, rows, factors, message",
    [
        ("ue8m0", 96, 4, "factors of 96 rows, no multiple of 128; expected 128 "),
        ("ue8m0", 192, 4, r"expected 256 \(those of B have N rows, rounded up to 128\)"),
        ("ue8m0", 128, 6, "6 factors a row, no multiple of 4; expected 8, some of them unused"),
        (
            "bf16",
            128,
            4,
            r"no instruction scales by bf16; expected a tile of e4m3 \(factors of ue4m3",
        ),
    ],
)
def test_tiles_without_whole_blocks_are_refused(element_type, rows, factors, message):
    with pytest.raises(LayoutError, match=message):
        scale_layout(element(element_type), rows, factors)
    alike = scale_blocks(tile_of_atoms(element(element_type), (rows, factors), 1, Swizzle.NONE))
    assert isinstance(alike, Mismatch)
    with pytest.raises(LayoutError, match=message):
        raise LayoutError(alike.reason)


def test_blocks_of_a_tile_and_of_its_subtiles():
    tile = scale_layout(UE8M0, 256, 8)
    assert scale_blocks(tile).offsets == ((0, 512), (1024, 1536))
    half = tile.slice((128, 0), (128, 8))
    assert (half.offset, scale_blocks(half.layout).offsets) == (1024, ((0, 512),))
    column = tile.slice((0, Multiple(4)), (256, 4))
    assert scale_blocks(column.layout).offsets == ((0,), (1024,))
    assert scale_blocks(scale_layout(UE8M0, 128, 8, 3).stage(2).layout).offsets == ((0, 512),)


@pytest.mark.parametrize(
    "text",
    [
        "((32,4),4):((16,4),128)",  # factors apart
        "((32,4),4):((4,128),1)",  # rows in their order
        "(128,4):(4,1)",  # row-major
        "Swizzle<1,4,3> o ((32,4),4):((16,4),1)",
    ],
)
def test_near_misses_have_no_blocks(text):
    mismatch = scale_blocks(parse_layout(text, UE8M0, (128, 4)))
    assert isinstance(mismatch, Mismatch)
    assert "tcgen05.cp copies blocks of Swizzle<0,4,3> o ((32,4),4):((16,4),1)" in mismatch.reason


def test_a_subtile_inside_a_block_has_no_blocks():
    tile = scale_layout(UE8M0, 256, 4)
    subtile = tile.slice((64, 0), (128, 4)).layout
    assert scale_blocks(subtile).reason == (
        "the subtile cuts blocks of 128x4 factors: it begins at (64,0) in them"
    )
    at_run_time = tile.slice((Multiple(32), 0), (128, 4)).layout
    assert "begins at (32n,0)" in scale_blocks(at_run_time).reason
    stages = scale_blocks(scale_layout(UE8M0, 128, 4, 2))
    assert stages.reason == "scale factors have rank 2, but the tile has rank 3"


def test_lines_of_16_bytes_follow_global_memory():
    tile = scale_layout(UE8M0, 256, 12)
    subtile = scale_blocks(tile.slice((0, 4), (256, 8)).layout)
    assert str(subtile.lines) == "Swizzle<0,4,3> o ((64,2),16):((16,1536),1)"
    whole = scale_blocks(tile).lines.offsets()
    assert np.array_equal(whole.ravel(), np.arange(256 * 12))


def test_blocks_between_units_have_no_descriptor():
    mismatch = scale_blocks(parse_layout("((32,4),(4,2)):((16,4),(1,520))", UE8M0, (128, 8)))
    assert "begins 520 bytes into the tile" in mismatch.reason


def test_descriptors_of_copies_to_tensor_memory():
    blocks = scale_blocks(scale_layout(UE8M0, 256, 8))
    # Version 1, SBO 128, and the blocks' addresses.
    bits = [[blocks.descriptor(b, w, 0x400).encode() for w in range(2)] for b in range(2)]
    assert [[hex(descriptor) for descriptor in row] for row in bits] == [
        ["0x400800000040", "0x400800000060"],
        ["0x400800000080", "0x4008000000a0"],
    ]
    with pytest.raises(ValueError, match="start is 1032 bytes"):
        blocks.descriptor(0, 0, 0x408)


def test_places_in_tensor_memory_are_what_copies_make():
    tile = scale_layout(UE8M0, 256, 8)
    blocks = scale_blocks(tile)
    assert (blocks.rows, blocks.factors, blocks.word_columns, blocks.columns) == (256, 8, 8, 16)
    shared = np.random.default_rng(0).integers(0, 256, 2048, dtype=np.uint8)
    tensor = np.zeros((32, blocks.columns, 4), np.uint8)
    for block in range(2):
        for word in range(2):
            # 32 lines of 16 bytes become 4 columns of 32 lanes.
            begin, column = blocks.offsets[block][word], blocks.column(block, word)
            tensor[:, column : column + 4] = shared[begin : begin + 512].reshape(32, 4, 4)
    factors = shared[tile.offsets()]
    for row in range(256):
        for factor in range(8):
            assert tensor[blocks.place(row, factor)] == factors[row, factor]
    assert blocks.place(200, 6) == (8, 14, 2)


@pytest.mark.parametrize(
    "factors, steps",
    [
        (1, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]),
        (2, [(0, 0), (0, 2), (1, 0)]),
        (4, [(0, 0), (1, 0), (2, 0)]),
        (3, [(0, 0), (0, 3), (1, 2), (2, 1), (3, 0)]),
        (6, [(0, 0), (1, 2), (3, 0), (4, 2)]),
    ],
)
def test_words_and_ids_of_k_steps(factors, steps):
    assert [scale_step(step, factors) for step in range(len(steps))] == steps
    for _, id_ in steps:
        check_scale_id(id_, factors)


def test_ids_that_there_are_not():
    with pytest.raises(LayoutError, match=r"the scale factor id is 1, .* reads 2 .* has 0 or 2"):
        check_scale_id(1, 2)
    with pytest.raises(
        LayoutError, match=r"the scale factor id is 2, .* reads 4 of each row has 0$"
    ):
        check_scale_id(2, 4)
    with pytest.raises(
        LayoutError, match="no instruction reads 5 factors of a row; expected 1, 2, 3"
    ):
        scale_step(0, 5)
    with pytest.raises(LayoutError, match="a K step of -1; expected 0 or more"):
        scale_step(-1, 2)


@pytest.mark.parametrize(
    "kind, k_bytes, block, factors",
    [
        ("mxf8f6f4", 32, 32, 1),
        ("mxf4", 32, 32, 2),
        ("mxf4nvf4", 32, 16, 4),
        ("mxf4nvf4", 48, 32, 3),
        ("mxf4nvf4", 48, 16, 6),
    ],
)
def test_factors_of_an_instruction(kind, k_bytes, block, factors):
    assert scale_factors(KINDS[kind], MmaShape(128, 64, k_bytes=k_bytes), block) == factors


def test_blocks_of_elements_that_no_kind_scales():
    with pytest.raises(
        LayoutError, match="mxf4 has no factors of 16 elements along K; expected 32"
    ):
        scale_factors(KINDS["mxf4"], MmaShape(128, 64), 16)
    with pytest.raises(
        LayoutError, match="f16 has no factors of 32 elements along K; expected none"
    ):
        scale_factors(KINDS["f16"], MmaShape(128, 64), 32)


@pytest.mark.parametrize("dtype", [np.uint8, ml_dtypes.float8_e8m0fnu, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("rows, factors", [(128, 4), (200, 7), (1, 1), (256, 16)])
def test_blocked_arrays_are_tiles(dtype, rows, factors):
    scales = np.random.default_rng(0).integers(0, 256, (rows, factors), dtype=np.uint8)
    blocks = blocked(scales.view(dtype))
    above, along = -(-rows // 128), -(-factors // 4)
    assert blocks.dtype == dtype and blocks.shape == (above, along, 32, 4, 4)
    layout = scale_layout(UE8M0, 128 * above, 4 * along)
    read = blocks.view(np.uint8).ravel()[layout.offsets()]
    assert np.array_equal(read[:rows, :factors], scales)
    assert not read[rows:].any() and not read[:, factors:].any()
    assert np.array_equal(unblocked(blocks, rows, factors).view(np.uint8), scales)


def test_arrays_that_are_no_scale_factors():
    with pytest.raises(
        ValueError, match=r"shape \(4,\) and 8 bits; expected \(rows, factors\) of 8"
    ):
        blocked(np.zeros(4, np.uint8))
    with pytest.raises(ValueError, match="and 32 bits; expected"):
        blocked(np.zeros((128, 4), np.float32))
    with pytest.raises(ValueError, match=r"128x8 factors have \(1, 2, 32, 4, 4\)"):
        unblocked(np.zeros((1, 1, 32, 4, 4), np.uint8), 128, 8)


def test_the_choice_takes_what_the_use_proposes():
    stage = PathElement((Multiple(1),), None)
    choice = choose(UE8M0, (4, 128, 8), [ScaleUse("B's factors", (stage,))])
    assert choice.picked.layout == scale_layout(UE8M0, 128, 8, 4)
    assert choice.explain().splitlines()[0] == (
        "picked   blocks of 128x4 factors: B's factors: 2 blocks of 128x4 factors"
    )
    assert [line.verdict for line in choice.lines[1:]] == ["refused"] * 8
    quick = choose(UE8M0, (128, 4), [ScaleUse("A's factors")], exhaustive=False)
    assert len(quick.candidates) == 1


def test_the_choice_states_why_a_tile_has_no_blocks():
    choice = choose(UE8M0, (64, 16), [ScaleUse("A's factors")])
    assert choice.picked is None
    assert "A's factors: factors of 64 rows, no multiple of 128; expected 128" in choice.explain()
