"""Operands of sparse wgmma: an instruction reads 64 bytes along K of B, and 32 of the compressed A."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import swizzles, tile_orders

from mlir_smem.layout import (
    ELEMENTS,
    Canonical,
    Major,
    Mismatch,
    Role,
    Swizzle,
    WgmmaDescriptor,
    element,
    instruction_k,
    match,
    mma_tiles,
    operand_addresses,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.canonical import FORMS
from mlir_smem.layout.operand import operand_mma_tiles
from mlir_smem.layout.wgmma import MN_MAJOR, SPARSE, SPARSE_B_FORMS, WgmmaInstruction, descriptor_of

BF16, TF32, S8 = element("bf16"), element("tf32"), element("s8")
KINDS = list(SPARSE)
units = st.integers(0, 300).map(lambda unit: 16 * unit)


@st.composite
def sparse_operands(draw, role=None):
    """(tile in the operand's orientation (m/n, k), its role), of A compressed."""
    element_type, role = draw(st.sampled_from(KINDS)), role or draw(st.sampled_from(Role))
    major = draw(st.sampled_from(Major)) if element_type in MN_MAJOR else Major.K
    mn = draw(st.integers(1, 3)) * 64 if role is Role.A else draw(st.integers(1, 40)) * 8
    k = draw(st.integers(1, 4)) * instruction_k(element_type) * (1 if role is Role.A else 2)
    contiguous = 1 if major is Major.K else 0
    return tile_of_atoms(element_type, (mn, k), contiguous, draw(swizzles), draw(tile_orders)), role


def reads(tiles, element_type, start, role):
    """The byte address that the instructions read for each element of a whole operand, (m/n, k)."""
    first = tiles.descriptor(start).encode()
    major, sparse = tiles.canonical.major.value, role is Role.B
    return np.block(
        [
            [
                operand_addresses(first + step, element_type.name, major, piece, sparse)
                for step in row
            ]
            for piece, row in zip(tiles.pieces, tiles.steps, strict=True)
        ]
    )


@given(st.data(), sparse_operands())
def test_mma_tiles_read_the_tile(data, operand):
    tile, role = operand
    base = data.draw(st.integers(1, 1 << 16)) // tile.alignment * tile.alignment
    tiles = mma_tiles(role.orient(tile), role, sparse=True)
    assert not isinstance(tiles, Mismatch), tiles
    assert np.array_equal(reads(tiles, tile.element, base, role), base + tile.offsets())


@given(st.data(), sparse_operands(Role.B))
def test_mma_tiles_read_a_subtile(data, operand):
    tile, role = operand
    step = 2 * instruction_k(tile.element)
    row = data.draw(st.integers(0, tile.shape[0] // 8 - 1)) * 8
    k = data.draw(st.integers(0, tile.shape[1] // step - 1)) * step
    cut = tile.slice((row, k), (8, step))
    tiles = mma_tiles(role.orient(cut.layout), role, sparse=True)
    base = 2 * tile.alignment
    read = reads(tiles, tile.element, base + tile.element.bytes(cut.offset), role)
    assert np.array_equal(read, base + tile.offsets()[row : row + 8, k : k + step])


@given(
    st.sampled_from([(f, e) for f in SPARSE_B_FORMS.values() for e in KINDS]).filter(
        lambda pair: pair[0].major is Major.K or pair[1] in MN_MAJOR
    ),
    st.integers(1, 6),
    units,
    units,
)
def test_every_canonical_layout_is_read_at_its_offsets(pair, m, lbo, sbo):
    form, element_type = pair
    k = 4 if form.major is Major.MN else 2
    layout = form.layout(element_type, m, k, lbo, sbo)
    assert layout.shape[1] == 2 * instruction_k(element_type)
    descriptor = descriptor_of(match(layout, SPARSE_B_FORMS), 0x400).encode()
    read = operand_addresses(descriptor, element_type.name, form.major.value, layout.shape[0], True)
    assert np.array_equal(read, 0x400 + layout.offsets())


# The addresses as they were measured.


def measured_address(d, size, n, kb, swizzled_width):
    """The address of byte `kb` along K of column `n` of a K-major B."""
    w = swizzled_width
    if w == 16:
        return d.start + n // 8 * d.sbo + n % 8 * 16 + kb // 16 * d.lbo + kb % 16
    a = d.start + n // 8 * d.sbo + n % 8 * w + kb % w + kb // w * d.lbo
    return a ^ ((a >> 7) - d.base_offset & w // 16 - 1) << 4


@given(st.sampled_from(KINDS), swizzles, units, units, units, st.integers(0, 7))
def test_addresses_of_k_major(element_type, swizzle, start, lbo, sbo, phase):
    d = WgmmaDescriptor(start, lbo, sbo, phase, swizzle)
    addresses = operand_addresses(d.encode(), element_type.name, "k", 16, sparse=True)
    size = element_type.bits // 8
    assert addresses.shape == (16, 64 // size)
    for n in range(16):
        for k in range(64 // size):
            assert addresses[n, k] == measured_address(d, size, n, k * size, swizzle.width)


@given(swizzles, units, units, units)
def test_addresses_of_n_major(swizzle, start, lbo, sbo):
    bits = WgmmaDescriptor(start, lbo, sbo, 0, swizzle).encode()
    dense = operand_addresses(bits, "bf16", "mn", 64)
    sparse = operand_addresses(bits, "bf16", "mn", 64, sparse=True)
    assert sparse.shape == (64, 32)
    assert np.array_equal(sparse[:, :16], dense)
    # The second half is two groups of eight k further, by the stride along k.
    along = lbo if swizzle is Swizzle.NONE else sbo
    later = operand_addresses(bits + (2 * along >> 4), "bf16", "mn", 64)
    assert np.array_equal(sparse[:, 16:], later)


@given(st.sampled_from(list(ELEMENTS.values())), swizzles, units, units, units)
def test_lbo_of_dense_swizzled_k_major_has_no_effect(element_type, swizzle, start, lbo, sbo):
    if swizzle is Swizzle.NONE:
        return
    one, other = (WgmmaDescriptor(start, x, sbo, 0, swizzle).encode() for x in (lbo, 16))
    a, b = (operand_addresses(bits, element_type.name, "k", 16) for bits in (one, other))
    assert np.array_equal(a, b)


# The 32B swizzle's LBO.


def test_the_two_columns_of_the_32b_swizzle_are_lbo_apart():
    tile = tile_of_atoms(BF16, (128, 64), 1, Swizzle.B32)
    tiles = mma_tiles(tile.transposed(), Role.B, sparse=True)
    assert tiles.canonical == Canonical(SPARSE_B_FORMS[Major.K, Swizzle.B32], 128 * 32, 256)
    assert tiles.canonical.form.text == "((8,m),(T,2,k)):((2T,SBO),(1,T,LBO))"
    assert tiles.descriptor(0x400).encode() == 0xC000_0010_0100_0040
    assert tiles.steps == ((0, 2 * 128 * 32 // 16),)


def test_adjacent_columns_are_32_bytes_apart():
    layout = parse_layout("Swizzle<1,4,3> o ((8,2),32):((16,512),1)", BF16)
    assert match(layout, SPARSE_B_FORMS) == Canonical(
        SPARSE_B_FORMS[Major.K, Swizzle.B32], 32, 1024
    )


@pytest.mark.parametrize("swizzle", [Swizzle.B64, Swizzle.B128], ids=str)
def test_wider_swizzles_hold_64_bytes_in_a_row(swizzle):
    tile = tile_of_atoms(S8, (64, 256), 1, swizzle)
    tiles = mma_tiles(tile.transposed(), Role.B, sparse=True)
    assert tiles.canonical.lbo is None
    assert tiles.canonical.form == FORMS[Major.K, swizzle]
    assert tiles.descriptor(0).lbo == 16


def test_a_dense_operand_has_no_such_lbo():
    tile = tile_of_atoms(BF16, (128, 64), 1, Swizzle.B32)
    assert mma_tiles(tile.transposed(), Role.B).canonical.lbo is None
    assert mma_tiles(tile, Role.A, sparse=True).canonical.lbo is None
    columns = tile.slice((0, 0), (128, 32)).layout
    assert match(columns, SPARSE_B_FORMS) == Canonical(
        SPARSE_B_FORMS[Major.K, Swizzle.B32], 4096, 256
    )
    assert isinstance(match(columns), Mismatch)


def test_only_one_form_differs():
    assert {key for key in FORMS if FORMS[key] != SPARSE_B_FORMS[key]} == {(Major.K, Swizzle.B32)}


# Refusals, and the choice.


def test_a_sparse_mma_tile_that_cuts_an_atom():
    # Runs of 32 bytes in the atoms of the 64B swizzle: 64 bytes along K are not contiguous.
    half = parse_layout("Swizzle<2,4,3> o ((8,8),(16,2)):((32,256),(1,2048))", BF16)
    mismatch = operand_mma_tiles(half, (64,), WgmmaDescriptor, 64, SPARSE_B_FORMS)
    assert isinstance(mismatch, Mismatch)
    assert mismatch.reason.startswith(
        "the MMA tile of 64x32 at (0, 0): along k, the repeats of the pattern have no single stride"
    )


def test_strides_along_k_that_no_descriptor_has():
    layout = parse_layout("Swizzle<1,4,3> o ((8,8),(16,3)):((16,128),(1,131080))", BF16)
    mismatch = match(layout, SPARSE_B_FORMS)
    assert isinstance(mismatch, Mismatch) and "LBO would be 262160 bytes" in mismatch.reason
    mismatch = match(parse_layout("((8,8),(16,2,2)):((16,128),(1,32,80))", BF16), SPARSE_B_FORMS)
    assert isinstance(mismatch, Mismatch)


@pytest.mark.parametrize(
    "element_type, shape, role, reason",
    [
        ("bf16", (80, 64), Role.B, "k is 80, not a multiple of 32 (64 bytes of bf16)"),
        ("s8", (96, 64), Role.B, "k is 96, not a multiple of 64 (64 bytes of s8)"),
        ("tf32", (64, 12), Role.A, "k is 12, not a multiple of 8 (32 bytes of tf32)"),
        ("b1", (64, 512), Role.A, "wgmma does not multiply b1 sparse"),
        ("b1", (512, 64), Role.B, "wgmma does not multiply b1 sparse"),
    ],
)
def test_what_no_sparse_instruction_reads(element_type, shape, role, reason):
    contiguous = 1 if role is Role.A else 0
    tile = tile_of_atoms(element(element_type), shape, contiguous, Swizzle.NONE)
    assert mma_tiles(tile, role, sparse=True) == Mismatch(reason)


def test_addresses_of_sparse_b1():
    with pytest.raises(ValueError, match=re.escape("wgmma does not multiply b1 sparse")):
        operand_addresses(0, "b1", "k", 64, sparse=True)


def test_a_use_is_evaluated_as_sparse():
    tile = tile_of_atoms(BF16, (48, 64), 0, Swizzle.B32)
    dense, sparse = (WgmmaInstruction(sparse).use("B", Role.B) for sparse in (False, True))
    assert dense.evaluate(tile).accepted
    assert not sparse.evaluate(tile).accepted
    assert "k is 48, not a multiple of 32" in sparse.evaluate(tile).reason
