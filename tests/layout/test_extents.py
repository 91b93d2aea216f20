"""Tiles that no memory can hold are refused before their elements or instructions are enumerated."""

import resource
import time
from math import prod

import numpy as np
import pytest

from mlir_smem.layout import (
    Arch,
    LayoutError,
    Mismatch,
    Role,
    Swizzle,
    choose,
    element,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.element_map import element_offsets, infer_layouts
from mlir_smem.layout.text_error import TextError

BF16, B1, E2M1 = map(element, ("bf16", "b1", "e2m1"))
LARGEST = (1 << 63) - 1

#: Layouts of tiles that no memory can hold.
TOO_LARGE = [
    "(20000,20000):(20000,1)",
    "(30000,30000):(30000,1)",
    "Swizzle<2,4,3> o (1048576,1099511627776):(8,16)",
    f"({LARGEST},64):(64,1)",
    f"(64,{LARGEST}):({LARGEST},1)",
    f"({LARGEST},{LARGEST}):(0,0)",
    "(4294967296,8):(8,1)",
    "Swizzle<3,4,3> o ((8,16385),8):((64,512),1)",
    "(65536,64,64):(4096,64,1)",
    f"(({','.join(['2'] * 60)}),8):(({','.join(['1'] * 60)}),1)",
]


@pytest.fixture(autouse=True)
def little_memory_and_time():
    """Limit the memory and the time of a test that enumerates a tile that is too large."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, limits[1]))
    begin = time.monotonic()
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("text", TOO_LARGE)
def test_their_elements_are_not_listed(text):
    tile = parse_layout(text, BF16)
    for listing in (tile.linear, tile.offsets, lambda: element_offsets(tile)):
        with pytest.raises(LayoutError, match=r"bytes; shared memory has less than 262144"):
            listing()


@pytest.mark.parametrize("arch", Arch, ids=str)
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("text", [text for text in TOO_LARGE if text[:6] != "(65536"])
def test_their_instructions_are_not_listed(text, role, arch):
    mismatch = arch.mma_tiles(parse_layout(text, BF16), role)
    assert isinstance(mismatch, Mismatch)
    assert "bytes; shared memory has less than 262144" in mismatch.reason


@pytest.mark.parametrize(
    "shape", [(1 << 31, 32), (64, LARGEST), (LARGEST, 64, 64), (48, 4096, 4096)]
)
def test_no_layout_is_chosen_for_them(shape):
    use = Arch.SM_90.use("A", Role.A, BF16)
    with pytest.raises(LayoutError) as error:
        choose(BF16, shape, [use])
    extents = "x".join(map(str, shape))
    assert str(error.value) == (
        f"a tile of {extents}xbf16 has {2 * prod(shape)} bytes; shared memory has less than 262144"
    )


def test_the_largest_tiles_are_listed():
    for element_type, shape in ((BF16, (1024, 128)), (B1, (1024, 2048)), (E2M1, (512, 1024))):
        offsets = tile_of_atoms(element_type, shape, 1, Swizzle.B128).offsets()
        assert offsets.shape == shape
        assert offsets.max() == (1 << 18) - 1 - (element_type.bits // 8 > 1)


def test_a_few_elements_that_are_far_apart():
    tile = parse_layout(f"(2,8):({1 << 50},1)", BF16)
    assert tile.offsets()[1, 0] == 1 << 51
    with pytest.raises(LayoutError, match=r"spans 9223372036854775824 bytes"):
        parse_layout(f"(2,8):({1 << 62},1)", BF16).offsets()


def test_maps_that_no_memory_holds():
    with pytest.raises(LayoutError, match=r"a tile of 4096x4096xbf16 has 33554432 bytes"):
        infer_layouts(np.zeros((4096, 4096), np.int64), BF16)
    with pytest.raises(
        LayoutError, match=r"an element is at 4611686018427387904, outside of any memory"
    ):
        infer_layouts(np.array([[0, 1 << 62]]), BF16)


def test_a_stride_that_no_descriptor_holds_is_printed_in_full():
    tile = parse_layout(f"Swizzle<3,4,3> o ((8,8),64):((64,{LARGEST}),1)", BF16)
    mismatch = Arch.SM_90.mma_tiles(tile, Role.A)
    assert isinstance(mismatch, Mismatch)
    assert f"SBO would be {2 * LARGEST} bytes" in mismatch.reason


@pytest.mark.parametrize(
    "text, index, problem",
    [
        (f"({1 << 63},8):(8,1)", 1, "it does not fit 63 bits"),
        (f"(8,8):({'9' * 5000},1)", 7, "it does not fit 63 bits"),
        (f"Swizzle<{'9' * 5000},4,3> o (8,8):(8,1)", 8, "it does not fit 63 bits"),
        (f"{'(' * 17}8{')' * 17}:(1)", 16, "parentheses nest more than 16 deep"),
        (f"{'(' * 20000}8{')' * 20000}:(1)", 16, "parentheses nest more than 16 deep"),
    ],
    ids=["a bit more", "digits", "swizzle", "a level more", "levels"],
)
def test_text_that_is_too_much(text, index, problem):
    with pytest.raises(TextError) as error:
        parse_layout(text, BF16)
    assert (error.value.index, error.value.problem) == (index, problem)


def test_numbers_with_many_zeros_in_front():
    assert parse_layout(f"({'0' * 5000}8,8):(8,1)", BF16).shape == (8, 8)


def test_long_text_is_read_at_once():
    ones = ",".join(["1"] * 50_000)
    assert parse_layout(f"(({ones},8),8):(({ones},8),1)", BF16).shape == (8, 8)
