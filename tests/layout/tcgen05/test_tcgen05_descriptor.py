"""The shared memory descriptor of tcgen05, bit by bit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.layout import Swizzle
from mlir_smem.layout.tcgen05 import TCGEN05_WIDEST_FIRST, Tcgen05Descriptor, tcgen05_addresses

VERSION = 1 << 46
units = st.integers(0, (1 << 14) - 1).map(lambda unit: 16 * unit)


@pytest.mark.parametrize(
    "descriptor, bits",
    [
        (Tcgen05Descriptor(0x3FFF0, 0, 0), VERSION | 0x3FFF),
        (Tcgen05Descriptor(0, 0x3FFF0, 0), VERSION | 0x3FFF_0000),
        (Tcgen05Descriptor(0, 0, 0x3FFF0), VERSION | 0x3FFF_0000_0000),
        (Tcgen05Descriptor(0, 0, 0, 7, Swizzle.B128), VERSION | 0x400E_0000_0000_0000),
        (Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B128), VERSION | 2 << 61),
        (Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B128_ATOM_32B), VERSION | 1 << 61),
        (Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B64), VERSION | 4 << 61),
        (Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B32), VERSION | 6 << 61),
        (
            Tcgen05Descriptor(0, 0x4000, 0, 0, Swizzle.B128, True),
            VERSION | 2 << 61 | 1 << 52 | 0x0400_0000,
        ),
        # A K-major operand with rows of 128 bytes, as in Triton and CUTLASS.
        (Tcgen05Descriptor(0x800, 16, 1024, 0, Swizzle.B128), 0x4000_4040_0001_0080),
    ],
    ids=str,
)
def test_fields_are_where_the_isa_puts_them(descriptor, bits):
    assert descriptor.encode() == bits
    assert Tcgen05Descriptor.decode(bits) == descriptor


@given(units, units, units, st.integers(0, 7), st.sampled_from(TCGEN05_WIDEST_FIRST))
def test_decode_inverts_encode(start, lbo, sbo, base_offset, swizzle):
    base_offset = 0 if swizzle is Swizzle.NONE else base_offset
    descriptor = Tcgen05Descriptor(start, lbo, sbo, base_offset, swizzle)
    assert Tcgen05Descriptor.decode(descriptor.encode()) == descriptor


def test_reserved_bits():
    bits = [14, 15, 30, 31, *range(53, 61)]
    assert Tcgen05Descriptor.reserved() == sum(1 << bit for bit in bits)


def refusal(make):
    with pytest.raises(ValueError) as error:
        make()
    return str(error.value)


def test_a_descriptor_of_wgmma_is_none_of_tcgen05():
    message = refusal(lambda: Tcgen05Descriptor.decode(0x4000_0040_0001_0040))
    assert message == "bits 46 to 48 of 0x4000004000010040 are 0; a tcgen05 descriptor has 1 there"


@pytest.mark.parametrize("mode", [3, 5, 7])
def test_undefined_modes_are_refused(mode):
    message = refusal(lambda: Tcgen05Descriptor.decode(VERSION | mode << 61))
    assert message.endswith(
        f" is {mode}; expected 0 (none), 1 (128B_ATOM_32B), 2 (128B), 4 (64B), 6 (32B)"
    )


@pytest.mark.parametrize(
    "swizzle, base_offset, message",
    [
        (
            Swizzle.B64,
            0,
            "the leading dimension is absolute with swizzle 64B; expected 128B, with atoms of 16 bytes",
        ),
        (
            Swizzle.B128_ATOM_32B,
            0,
            "the leading dimension is absolute with swizzle 128B_ATOM_32B; expected 128B, with atoms of "
            "16 bytes",
        ),
        (
            Swizzle.B128,
            1,
            "the leading dimension is absolute with base offset 1; expected 0",
        ),
    ],
)
def test_what_the_absolute_mode_does_not_allow(swizzle, base_offset, message):
    assert refusal(lambda: Tcgen05Descriptor(0, 0, 0, base_offset, swizzle, True)) == message


def test_str_shows_the_absolute_mode():
    descriptor = Tcgen05Descriptor(0x400, 0x800, 1024, 0, Swizzle.B128, True)
    assert str(descriptor).endswith("swizzle 128B, LBO absolute")


def test_a_base_offset_needs_a_swizzle():
    message = refusal(lambda: Tcgen05Descriptor.decode(VERSION | 3 << 49))
    assert message == "base offset is 3, but without swizzle it must be 0"


@pytest.mark.parametrize(
    "start, lbo, absolute, k_bytes, message",
    [
        (0x470, 0x870, True, 48, "LBO is the address 0x870, 112 bytes into a line of 128, but 32 "),
        (0x460, 0x870, True, 48, None),
        (0x460, 0x880, True, 48, None),
        # With one chunk, LBO is not checked.
        (0x450, 0x870, True, 48, None),
        (0x460, 0x870, False, 48, "reads 48 bytes from byte 96 of lines of 128: past their end"),
        (0x450, 16, False, 48, None),
        (0x400, 0x800, True, 32, "LBO is an address (bit 52), which is for a K of 48 bytes; the "),
        (0x460, 16, False, 32, None),
        (0x400, 16, False, 64, "K is 64 bytes; expected 32 or 48"),
    ],
)
def test_rows_that_fit_their_lines(start, lbo, absolute, k_bytes, message):
    bits = Tcgen05Descriptor(start, lbo, 1024, 0, Swizzle.B128, absolute).encode()
    if message is None:
        assert tcgen05_addresses(bits, "e2m1", "k", 128, k_bytes).shape == (128, 2 * k_bytes)
    else:
        assert message in refusal(lambda: tcgen05_addresses(bits, "e2m1", "k", 128, k_bytes))


@pytest.mark.parametrize("element_type", ["bf16", "e4m3", "e2m1_p64"])
def test_48_bytes_of_k_are_of_packed_4_bit_types(element_type):
    bits = Tcgen05Descriptor(0x400, 16, 1024, 0, Swizzle.B128).encode()
    message = refusal(lambda: tcgen05_addresses(bits, element_type, "k", 128, 48))
    assert message == f"K is 48 bytes, which is for e2m1, not {element_type}"


@pytest.mark.parametrize(
    "element, major, descriptor, message",
    [
        (
            "tf32",
            "mn",
            Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B128),
            "tcgen05 does not read tf32 MN-major with swizzle 128B",
        ),
        (
            "bf16",
            "mn",
            Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B128_ATOM_32B),
            "does not read bf16 MN-major",
        ),
        (
            "bf16",
            "k",
            Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B128_ATOM_32B),
            "does not read bf16 K-major",
        ),
        ("e2m1", "mn", Tcgen05Descriptor(0, 0, 0), "does not read e2m1 MN-major"),
        (
            "bf16",
            "mn",
            Tcgen05Descriptor(0, 0, 0, 0, Swizzle.B128, True),
            "the leading dimension of bf16 is absolute, but it is read MN-major",
        ),
    ],
)
def test_what_no_instruction_reads(element, major, descriptor, message):
    assert message in refusal(lambda: tcgen05_addresses(descriptor.encode(), element, major, 64))
