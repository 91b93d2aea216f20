"""The swizzling modes: their numbers, and the addresses at which they store bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import swizzles

from mlir_smem.layout import ELEMENTS, Swizzle
from mlir_smem.layout.swizzle import WIDEST_FIRST

MODES = [
    # mode, width, pattern, atom, wgmma, tcgen05, tensor map, CuTe, str
    (Swizzle.NONE, 16, 16, 128, 0, 0, "CU_TENSOR_MAP_SWIZZLE_NONE", "Swizzle<0,4,3>", "none"),
    (Swizzle.B32, 32, 256, 256, 3, 6, "CU_TENSOR_MAP_SWIZZLE_32B", "Swizzle<1,4,3>", "32B"),
    (Swizzle.B64, 64, 512, 512, 2, 4, "CU_TENSOR_MAP_SWIZZLE_64B", "Swizzle<2,4,3>", "64B"),
    (Swizzle.B128, 128, 1024, 1024, 1, 2, "CU_TENSOR_MAP_SWIZZLE_128B", "Swizzle<3,4,3>", "128B"),
]


@pytest.mark.parametrize(
    "mode, width, pattern, atom, wgmma, tcgen05, tensor_map, cute, text", MODES, ids=str
)
def test_numbers(mode, width, pattern, atom, wgmma, tcgen05, tensor_map, cute, text):
    assert (mode.width, mode.pattern_bytes, mode.atom_bytes) == (width, pattern, atom)
    assert (mode.wgmma_field, mode.tcgen05_field) == (wgmma, tcgen05)
    assert (mode.tensor_map, mode.cute, str(mode)) == (tensor_map, cute, text)


def test_atom_is_as_wide_as_the_mode_in_elements():
    widths = [Swizzle.B128.atom_elements(ELEMENTS[name]) for name in ("tf32", "bf16", "s8", "b1")]
    assert widths == [32, 64, 128, 1024]


@pytest.mark.parametrize("mode", WIDEST_FIRST, ids=str)
def test_of_width_inverts_width(mode):
    assert Swizzle.of_width(mode.width) is mode


def test_of_width_zero_is_no_swizzle():
    assert Swizzle.of_width(0) is Swizzle.NONE


def test_of_width_refuses_other_widths():
    with pytest.raises(ValueError, match="no swizzle is 48 bytes wide; expected 0, 32, 64 or 128"):
        Swizzle.of_width(48)


@pytest.mark.parametrize(
    "mode, lines",
    [
        # The index of the unit stored at each 16-byte slot of eight lines of 128 bytes, as in the
        # figures of the PTX ISA (9.7.15.5.1.2).
        (Swizzle.NONE, ["01234567"] * 8),
        (Swizzle.B32, ["01234567", "10325476"] * 4),
        (Swizzle.B64, ["01234567", "10325476", "23016745", "32107654"] * 2),
        (
            Swizzle.B128,
            [
                *("01234567", "10325476", "23016745", "32107654"),
                *("45670123", "54761032", "67452301", "76543210"),
            ],
        ),
    ],
    ids=str,
)
def test_units_of_eight_lines(mode, lines):
    stored = mode.apply(np.arange(0, 1024, 16)) // 16 % 8
    assert ["".join(map(str, line)) for line in stored.reshape(8, 8)] == lines


@given(swizzles, st.integers(0, 1 << 18), st.integers(0, 7))
def test_apply_is_its_own_inverse(mode, address, base_offset):
    assert mode.apply(mode.apply(address, base_offset), base_offset) == address


@given(swizzles, st.integers(0, 1 << 18), st.integers(0, 7))
def test_apply_stays_within_the_width(mode, address, base_offset):
    assert mode.apply(address, base_offset) // mode.width == address // mode.width


@given(swizzles, st.integers(0, 1 << 17), st.integers(0, 100))
def test_pattern_repeats(mode, address, count):
    moved = count * mode.pattern_bytes
    assert mode.apply(address + moved) == mode.apply(address) + moved


@given(swizzles, st.integers(0, 1 << 17), st.integers(0, 7))
def test_base_offset_shifts_the_pattern_by_lines_of_128_bytes(mode, address, lines):
    moved = 128 * lines
    assert mode.apply(address + moved, lines) == mode.apply(address) + moved
