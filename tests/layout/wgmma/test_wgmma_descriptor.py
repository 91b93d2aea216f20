"""The 64-bit descriptor, bit by bit, and the base offset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import swizzles

from mlir_smem.layout import (
    FORMS,
    Canonical,
    Major,
    Swizzle,
    WgmmaDescriptor,
    base_offset,
    descriptor_of,
    operand_addresses,
)
from mlir_smem.layout.descriptor import encode_address

units = st.integers(0, (1 << 14) - 1).map(lambda unit: 16 * unit)
descriptors = st.builds(
    WgmmaDescriptor,
    units,
    units,
    units,
    st.integers(0, 7),
    swizzles,
)


@pytest.mark.parametrize(
    "descriptor, bits",
    [
        (WgmmaDescriptor(0x3FFF0, 0, 0), 0x0000_0000_0000_3FFF),
        (WgmmaDescriptor(0, 0x3FFF0, 0), 0x0000_0000_3FFF_0000),
        (WgmmaDescriptor(0, 0, 0x3FFF0), 0x0000_3FFF_0000_0000),
        (WgmmaDescriptor(0, 0, 0, 7, Swizzle.B128), 0x400E_0000_0000_0000),
        (WgmmaDescriptor(0, 0, 0, 0, Swizzle.B128), 0x4000_0000_0000_0000),
        (WgmmaDescriptor(0, 0, 0, 0, Swizzle.B64), 0x8000_0000_0000_0000),
        (WgmmaDescriptor(0, 0, 0, 0, Swizzle.B32), 0xC000_0000_0000_0000),
        (WgmmaDescriptor(0x400, 16, 1024, 0, Swizzle.B128), 0x4000_0040_0001_0040),
    ],
    ids=str,
)
def test_fields_are_where_the_isa_puts_them(descriptor, bits):
    assert descriptor.encode() == bits


@given(descriptors)
def test_decode_inverts_encode(descriptor):
    assert WgmmaDescriptor.decode(descriptor.encode()) == descriptor


@given(st.integers(0, (1 << 64) - 1).map(lambda bits: bits & ~WgmmaDescriptor.reserved() | 1 << 62))
def test_encode_inverts_decode(bits):
    assert WgmmaDescriptor.decode(bits).encode() == bits


def test_reserved_bits():
    bits = [14, 15, 30, 31, 46, 47, 48, *range(52, 62)]
    assert WgmmaDescriptor.reserved() == sum(1 << bit for bit in bits)


@pytest.mark.parametrize("bit", [14, 15, 30, 31, 46, 47, 48, *range(52, 62)])
def test_reserved_bits_are_refused(bit):
    bits = 1 << 62 | 1 << bit
    with pytest.raises(ValueError, match=f"{bits:#018x} sets bits {1 << bit:#018x}, which belong"):
        WgmmaDescriptor.decode(bits)


@pytest.mark.parametrize("bits", [-1, 1 << 64])
def test_more_than_64_bits_are_refused(bits):
    with pytest.raises(ValueError, match=f"{bits:#x} is not a 64-bit value"):
        WgmmaDescriptor.decode(bits)


@pytest.mark.parametrize("name", ["start", "lbo", "sbo"])
@pytest.mark.parametrize("value", [8, -16, 1 << 18])
def test_quantities_are_16_byte_units_of_14_bits(name, value):
    fields = {"start": 0, "lbo": 0, "sbo": 0, name: value}
    with pytest.raises(
        ValueError, match=f"{name} is {value} bytes; .* multiples of 16 below 262144"
    ):
        WgmmaDescriptor(**fields)


@pytest.mark.parametrize("value", [-1, 8])
def test_base_offset_has_three_bits(value):
    with pytest.raises(ValueError, match=f"base offset is {value}; expected 0 to 7"):
        WgmmaDescriptor(0, 0, 0, value, Swizzle.B128)


@pytest.mark.parametrize("major", ["k", "mn"])
def test_a_base_offset_without_swizzle_changes_nothing(major):
    plain = WgmmaDescriptor(0x480, 128, 256).encode()
    assert WgmmaDescriptor.decode(plain | 3 << 49).base_offset == 3
    read = operand_addresses(plain | 3 << 49, "bf16", major, 64)
    assert (read == operand_addresses(plain, "bf16", major, 64)).all()


def test_encode_address_is_the_isas_formula():
    assert [encode_address(x) for x in (0, 16, 0x3FFF0, 0x40010)] == [0, 1, 0x3FFF, 1]


def test_str_shows_bits_and_fields():
    assert str(WgmmaDescriptor(0x400, 16, 1024, 1, Swizzle.B128)) == (
        "0x4002004000010040: start 0x400, LBO 16 B, SBO 1024 B, base offset 1, swizzle 128B"
    )


# From a canonical layout.


@pytest.mark.parametrize("swizzle", [Swizzle.B32, Swizzle.B64, Swizzle.B128], ids=str)
def test_unused_lbo_is_encoded_as_1(swizzle):
    descriptor = descriptor_of(Canonical(FORMS[Major.K, swizzle], None, 1024), start=0)
    assert descriptor.encode() >> 16 & 0x3FFF == 1


def test_strides_without_effect_are_0():
    assert descriptor_of(
        Canonical(FORMS[Major.MN, Swizzle.B128], None, None), 0x400
    ) == WgmmaDescriptor(0x400, 0, 0, 0, Swizzle.B128)


def test_start_and_base_offset_are_passed_on():
    assert descriptor_of(
        Canonical(FORMS[Major.MN, Swizzle.B64], 512, 1024), 0x480, 1
    ) == WgmmaDescriptor(0x480, 512, 1024, 1, Swizzle.B64)


# Where a pattern may start.


@given(swizzles, st.integers(0, 100))
def test_aligned_patterns_have_base_offset_0(swizzle, count):
    assert base_offset(count * swizzle.pattern_bytes, swizzle) == 0


@pytest.mark.parametrize(
    "swizzle, offsets",
    [
        (Swizzle.B128, [0, 1, 2, 3, 4, 5, 6, 7]),
        (Swizzle.B64, [0, 1, 2, 3, 0, 1, 2, 3]),
        (Swizzle.B32, [0, 1, 0, 1, 0, 1, 0, 1]),
        (Swizzle.NONE, [0] * 8),
    ],
    ids=str,
)
def test_base_offset_counts_lines_of_128_bytes(swizzle, offsets):
    assert [base_offset(0x400 + 128 * line, swizzle) for line in range(8)] == offsets


def test_patterns_start_at_lines_of_128_bytes():
    with pytest.raises(
        ValueError, match=r"a 64B pattern cannot start at 0x440: .* lines of 128 bytes"
    ):
        base_offset(0x440, Swizzle.B64)


def test_without_swizzle_there_is_no_pattern():
    assert base_offset(0x410, Swizzle.NONE) == 0
