"""Bytes that wgmma reads: the emulator's rule agrees with that of `mlir_smem.layout`; D's fragment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.emulator.tensor_core.operands import MatrixDescriptorFields
from mlir_smem.emulator.wgmma.descriptors import decode_matrix, operand_bytes
from mlir_smem.emulator.wgmma.fragments import to_elements, to_matrix
from mlir_smem.layout import FORMS, Major, WgmmaDescriptor, element, fragment_d, operand_addresses
from mlir_smem.layout.swizzle import WIDEST_FIRST

ROWS = [8 * n for n in range(1, 33)]

elements = st.sampled_from(["bf16", "f16"])
units = st.integers(0, (1 << 14) - 1)


@st.composite
def descriptors(draw):
    swizzle, base_offset = draw(st.sampled_from(WIDEST_FIRST)), draw(st.integers(0, 7))
    start, lbo, sbo = (16 * draw(units) for _ in range(3))
    return WgmmaDescriptor(start, lbo, sbo, base_offset, swizzle)


@given(
    descriptors(),
    st.sampled_from(["bf16", "f16"]),
    st.sampled_from(["k", "mn"]),
    st.sampled_from(ROWS),
)
def test_both_rules_read_the_same_bytes(descriptor, element, major, rows):
    bits = descriptor.encode()
    addresses = operand_bytes(bits, 16, major == "mn", rows)
    assert (addresses == operand_addresses(bits, element, major, rows)).all()


@given(descriptors(), st.sampled_from([("e4m3", 8), ("tf32", 32), ("s8", 8)]))
def test_both_rules_read_the_same_bytes_of_other_widths(descriptor, element):
    name, size = element
    bits = descriptor.encode()
    expected = operand_addresses(bits, name, "k", 64)
    assert (operand_bytes(bits, size, False, 64) == expected).all()


@given(
    descriptors(),
    st.sampled_from([("bf16", 16), ("s8", 8), ("tf32", 32)]),
    st.booleans(),
    st.sampled_from(ROWS),
)
def test_both_rules_read_the_same_bytes_of_a_sparse_b(descriptor, element, mn_major, rows):
    name, size = element
    mn_major &= size == 16
    bits = descriptor.encode()
    expected = operand_addresses(bits, name, "mn" if mn_major else "k", rows, sparse=True)
    assert (operand_bytes(bits, size, mn_major, rows, k_bytes=64) == expected).all()


ELEMENTS = [element(name) for name in ("bf16", "tf32", "s8")]


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda f: f"{f.major}-{f.swizzle}")
@pytest.mark.parametrize("element_", ELEMENTS, ids=str)
def test_canonical_layouts_are_read_as_the_isa_defines_them(form, element_):
    # LBO and SBO differ; the operand has one K-major pattern, or two MN-major ones.
    m, k, lbo, sbo = (3, 1, 0x1230, 0x2460) if form.major is Major.K else (2, 2, 0x1230, 0x5670)
    layout = form.layout(element_, m, k, lbo, sbo)
    rows, columns = layout.shape
    bits = WgmmaDescriptor(0x400, lbo, sbo, swizzle=form.swizzle).encode()
    k_bytes = columns * element_.bits // 8
    addresses = operand_bytes(bits, element_.bits, form.major is Major.MN, rows, k_bytes)
    assert (addresses == 0x400 + layout.offsets()).all()


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda f: f"{f.major}-{f.swizzle}")
@pytest.mark.parametrize("element_", ELEMENTS, ids=str)
def test_lbo_and_sbo_are_the_strides_that_the_form_defines(form, element_):
    # Both are multiples of every swizzle pattern, so that the swizzle does not change distances.
    lbo, sbo = 8192, 16384
    bits = WgmmaDescriptor(0, lbo, sbo, swizzle=form.swizzle).encode()
    addresses = operand_bytes(bits, element_.bits, form.major is Major.MN, 256, 64)
    for name, stride in (("LBO", lbo), ("SBO", sbo)):
        if step := form.step(name, element_):
            dim, count = step
            along = addresses[:, 0] if dim == 0 else addresses[0]
            assert along[count] == stride
            assert along[:count].max() < lbo


#: Bits of a descriptor that do not belong to a field.
UNUSED = 3 << 14 | 3 << 30 | 7 << 46 | 0x3FF << 52


@given(st.integers(0, (1 << 64) - 1), st.booleans())
def test_both_rules_refuse_the_same_descriptors(bits, is_likely):
    def refuses(function, *arguments):
        try:
            function(bits, *arguments)
        except ValueError:
            return True
        return False

    if is_likely:
        bits &= ~UNUSED
    assert refuses(operand_bytes, 16, False, 64) == refuses(operand_addresses, "bf16", "k", 64)


@pytest.mark.parametrize(
    "bits, expected",
    [
        # Each field of PTX ISA 9.7.15.5.1.2.2: its lowest bit alone, and all of its bits.
        (0x0000000000000001, MatrixDescriptorFields(0x10, 0, 0, 0, 16)),
        (0x0000000000003FFF, MatrixDescriptorFields(0x3FFF0, 0, 0, 0, 16)),
        (0x0000000000010000, MatrixDescriptorFields(0, 0x10, 0, 0, 16)),
        (0x000000003FFF0000, MatrixDescriptorFields(0, 0x3FFF0, 0, 0, 16)),
        (0x0000000100000000, MatrixDescriptorFields(0, 0, 0x10, 0, 16)),
        (0x00003FFF00000000, MatrixDescriptorFields(0, 0, 0x3FFF0, 0, 16)),
        (0x4000000000000000, MatrixDescriptorFields(0, 0, 0, 0, 128)),
        (0x8000000000000000, MatrixDescriptorFields(0, 0, 0, 0, 64)),
        (0xC000000000000000, MatrixDescriptorFields(0, 0, 0, 0, 32)),
        (0x4002000000000000, MatrixDescriptorFields(0, 0, 0, 1, 128)),
        (0x400E000000000000, MatrixDescriptorFields(0, 0, 0, 7, 128)),
        (0x0002000000000000, MatrixDescriptorFields(0, 0, 0, 1, 16)),
    ],
)
def test_fields_are_decoded_as_the_isa_defines_them(bits, expected):
    assert decode_matrix(bits) == expected


def test_descriptor_with_bits_outside_the_fields():
    message = "sets bits 0x0000400000000000, which belong to no field of a wgmma descriptor"
    with pytest.raises(ValueError, match=message):
        decode_matrix(1 << 46)


def test_k_major_operand_without_swizzle_by_hand():
    # PTX ISA 9.7.15.5.1.2: core matrices of 8 rows by 16 bytes; LBO along k, SBO along m.
    bits = WgmmaDescriptor(0x400, 128, 256).encode()
    addresses = operand_bytes(bits, 16, False, 16)
    assert addresses[0].tolist() == [0x400 + 2 * k for k in range(8)] + [
        0x480 + 2 * k for k in range(8)
    ]
    assert addresses[:, 0].tolist() == [0x400 + 16 * r for r in range(8)] + [
        0x500 + 16 * r for r in range(8)
    ]


@pytest.mark.parametrize("n", [8, 16, 64, 136, 256])
def test_accumulator_registers_are_those_of_the_isa(n):
    matrix = np.arange(64 * n, dtype=np.float32).reshape(64, n)
    fragment = fragment_d(n)
    registers = matrix[fragment.row, fragment.column]
    assert (to_matrix(registers, n) == matrix).all()
    assert (to_elements(matrix) == registers).all()
