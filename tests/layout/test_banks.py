"""Bank conflicts: accesses whose passes are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.layout import Access, Swizzle, element, tile_of_atoms, warp_access

LANES = np.arange(32)


@pytest.mark.parametrize("size, passes", [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)])
def test_neighbours_do_not_conflict(size, passes):
    assert warp_access(LANES * size, size) == Access(passes, passes)


@pytest.mark.parametrize(
    "stride, passes", [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (31, 1), (32, 32), (33, 1)]
)
def test_strided_words(stride, passes):
    assert warp_access(LANES * stride * 4, 4) == Access(passes, 1)


def test_one_word_for_all_is_a_broadcast():
    assert warp_access(np.full(32, 0x400), 4) == Access(1, 1)


def test_bytes_of_one_word_are_a_broadcast():
    assert warp_access(LANES % 4, 1) == Access(1, 1)


def test_two_words_of_one_bank_conflict():
    assert warp_access(np.array([0, 128]), 4) == Access(2, 1)


def test_eight_lanes_of_16_bytes_are_served_together():
    # Lanes 0 and 8 share a bank, but not a pass.
    assert warp_access(LANES % 8 * 16 + LANES // 8 * 128, 16) == Access(4, 4)


def column_of_units(swizzle, unit):
    """The addresses of 32 lanes that each read one 16-byte unit of a row of 128 bytes."""
    linear = tile_of_atoms(element("bf16"), (32, 64), 1, Swizzle.B128).linear()[:, 8 * unit] * 2
    return swizzle.apply(linear)


@pytest.mark.parametrize("unit", range(8))
@pytest.mark.parametrize(
    "swizzle, passes",
    [(Swizzle.NONE, 32), (Swizzle.B32, 16), (Swizzle.B64, 8), (Swizzle.B128, 4)],
    ids=str,
)
def test_a_column_of_units_conflicts_less_the_wider_the_swizzle(swizzle, passes, unit):
    access = warp_access(column_of_units(swizzle, unit), 16)
    assert access == Access(passes, 4)
    assert access.conflicts == passes - 4


@given(
    st.sampled_from([1, 2, 4, 8, 16]).flatmap(
        lambda size: st.tuples(
            st.lists(st.integers(0, 255).map(lambda a: a * size), min_size=1, max_size=32),
            st.just(size),
        )
    )
)
def test_passes_are_between_the_least_and_one_a_lane(access):
    addresses, size = access
    cost = warp_access(np.array(addresses), size)
    assert cost.ideal <= cost.wavefronts <= len(addresses)


@pytest.mark.parametrize("size", [0, 3, 32])
def test_a_lane_accesses_a_power_of_two(size):
    with pytest.raises(ValueError, match=f"a lane accesses 1, 2, 4, 8 or 16 bytes, not {size}"):
        warp_access(LANES * 32, size)


@pytest.mark.parametrize("shape", [(33,), (0,), (4, 8)])
def test_a_warp_has_at_most_32_lanes(shape):
    text = str(shape).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ValueError, match=f"1 to 32 lanes, not an array of shape {text}"):
        warp_access(np.zeros(shape, dtype=np.int64), 4)


def test_accesses_are_aligned():
    with pytest.raises(ValueError, match="address 0x14 is not aligned to the 8 bytes"):
        warp_access(np.array([0x10, 0x14, 0x1C]), 8)
