"""mma operands: with the descriptors of a tile's MMA tiles, wgmma reads that tile, byte for byte."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import operands

from mlir_smem.layout import (
    ELEMENTS,
    FORMS,
    Canonical,
    Major,
    Mismatch,
    Mode,
    Multiple,
    Role,
    Swizzle,
    TileOrder,
    WgmmaDescriptor,
    base_offset,
    descriptor_of,
    element,
    instruction_k,
    match,
    mma_tiles,
    operand_addresses,
    parse_layout,
    tile_of_atoms,
)
from mlir_smem.layout.operand import operand_mma_tiles
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.layout.wgmma import MN_MAJOR

BF16 = element("bf16")
TF32 = element("tf32")


def reads(tiles, element_type, start, base_offset=0):
    """The byte address that the instructions read for each element of a whole operand, (m/n, k)."""
    first = tiles.descriptor(start, base_offset).encode()
    major = tiles.canonical.major.value
    return np.block(
        [
            [operand_addresses(first + step, element_type.name, major, piece) for step in row]
            for piece, row in zip(tiles.pieces, tiles.steps, strict=True)
        ]
    )


def pattern_aligned(tile):
    """Where a tile may begin in shared memory with base offset 0."""
    return st.integers(1, 1 << 16).map(lambda a: a // tile.alignment * tile.alignment)


# Instructions read each element at the offset that the layout gives.


@given(st.data(), operands())
def test_mma_tiles_read_the_tile(data, operand):
    base = data.draw(pattern_aligned(operand.tile))
    tiles = mma_tiles(operand.oriented_tile, operand.role)
    assert tiles and tiles.canonical.major is operand.major
    read = reads(tiles, operand.tile.element, base)
    assert np.array_equal(read, base + operand.tile.offsets())


@given(st.data(), operands())
def test_mma_tiles_read_a_pattern_that_starts_at_any_line(data, operand):
    tile = operand.tile
    line = 16 if tile.swizzle is Swizzle.NONE else 128
    base = data.draw(st.integers(8, 1000)) * line
    tiles = mma_tiles(operand.oriented_tile, operand.role)
    read = reads(tiles, tile.element, base, base_offset(base, tile.swizzle))
    stored = tile.swizzle.apply(tile.linear() * tile.element.bits // 8)
    assert np.array_equal(read, base + stored)


@st.composite
def subtiles(draw):
    """(operand, starts, sizes): a subtile that instructions can read, anywhere in the pattern."""
    operand = draw(operands())
    tile, element_type = operand.tile, operand.tile.element
    units = (64 if operand.role is Role.A else 8, instruction_k(element_type))
    # A subtile may begin at every 16 bytes of a line, and at every line.
    grains = (1, element_type.unit) if operand.major is Major.K else (element_type.unit, 1)
    starts, sizes = [], []
    for extent, modes, unit, grain in zip(
        tile.shape, tile.coalesced().modes, units, grains, strict=True
    ):
        size = draw(st.integers(1, extent // unit)) * unit
        start = draw(st.integers(0, (extent - size) // grain)) * grain
        atom = modes[0].extent if len(modes) > 1 else extent
        cuts = start % atom + size > atom
        starts.append(start - start % atom if cuts else start)
        sizes.append(size)
    return operand, tuple(starts), tuple(sizes)


@given(st.data(), subtiles())
def test_mma_tiles_read_a_subtile(data, subtile):
    operand, (row, k), (rows, ks) = subtile
    tile, role = operand.tile, operand.role
    base = data.draw(pattern_aligned(tile))
    cut = tile.slice((row, k), (rows, ks))
    tiles = mma_tiles(role.orient(cut.layout), role)
    read = reads(tiles, tile.element, base + tile.element.bytes(cut.offset))
    assert np.array_equal(read, base + tile.offsets()[row : row + rows, k : k + ks])


@given(st.data(), operands())
def test_one_run_time_mma_tile_reads_each(data, operand):
    tile, element_type = operand.tile, operand.tile.element
    rows, ks = 64 if operand.role is Role.A else 8, instruction_k(element_type)
    base = data.draw(pattern_aligned(tile))
    cut = tile.slice((Multiple(rows), Multiple(ks)), (rows, ks))
    tiles = operand_mma_tiles(cut.layout, (rows,), WgmmaDescriptor)
    for row in range(0, tile.shape[0], rows):
        for k in range(0, tile.shape[1], ks):
            offset = cut.offset + sum(t.at((row, k)[t.dim]) for t in cut.terms)
            read = reads(tiles, element_type, base + element_type.bytes(offset))
            assert np.array_equal(read, base + tile.offsets()[row : row + rows, k : k + ks])


@pytest.mark.parametrize("swizzle", WIDEST_FIRST, ids=str)
@pytest.mark.parametrize(
    "element_type, contiguous", [(BF16, 0), (BF16, 1), (TF32, 1), (element("b1"), 1)], ids=str
)
def test_mma_tiles_read_each_stage(element_type, contiguous, swizzle):
    tile = tile_of_atoms(
        element_type, (3, 128, 3 * instruction_k(element_type)), contiguous, swizzle
    )
    for index in range(3):
        stage = tile.stage(index)
        tiles = mma_tiles(stage.layout, Role.A)
        read = reads(tiles, element_type, 0x400 + element_type.bytes(stage.offset))
        assert np.array_equal(read, 0x400 + tile.offsets()[index])


@given(
    st.sampled_from([(f, e) for f in FORMS.values() for e in ELEMENTS.values()]).filter(
        lambda pair: pair[0].major is Major.K or pair[1] in MN_MAJOR
    ),
    st.integers(1, 6),
    st.integers(0, 300).map(lambda unit: 16 * unit),
    st.integers(0, 300).map(lambda unit: 16 * unit),
)
def test_every_canonical_layout_is_read_at_its_offsets(pair, m, lbo, sbo):
    form, element_type = pair
    k = 1 if form.major is Major.K else 2
    layout = form.layout(element_type, m, k, lbo, sbo)
    assert layout.shape[1] == instruction_k(element_type)
    descriptor = descriptor_of(match(layout), 0x400).encode()
    read = operand_addresses(descriptor, element_type.name, form.major.value, layout.shape[0])
    assert np.array_equal(read, 0x400 + layout.offsets())


@given(st.data(), operands())
def test_every_accepted_layout_is_read_at_its_offsets(data, operand):
    # One stride is replaced; most of these layouts are refused, the others must be read correctly.
    tile, role = operand.tile, operand.role
    modes = [list(dim) for dim in tile.modes]
    dim = data.draw(st.sampled_from(modes))
    i = data.draw(st.integers(0, len(dim) - 1))
    dim[i] = Mode(dim[i].extent, data.draw(st.integers(0, 100)) * tile.element.unit)
    changed = replace(tile, modes=tuple(map(tuple, modes)))
    tiles = mma_tiles(role.orient(changed), role)
    if not isinstance(tiles, Mismatch):
        assert np.array_equal(reads(tiles, tile.element, 0x400), 0x400 + changed.offsets())


def test_an_instruction_that_needs_no_lbo_takes_the_others():
    operand = tile_of_atoms(BF16, (320, 32), 0, Swizzle.B128)
    tiles = operand_mma_tiles(operand, (256, 64), WgmmaDescriptor)
    # From 64 columns to the next: 32 rows of k of 128 bytes.
    assert (tiles.canonical.lbo, tiles.canonical.sbo) == (4096, 1024)
    assert tiles.steps == ((0, 128), (1024, 1152))


def test_an_instruction_that_needs_no_sbo_takes_the_others():
    operand = tile_of_atoms(BF16, (264, 32), 1, Swizzle.B64)
    tiles = operand_mma_tiles(operand, (256, 8), WgmmaDescriptor)
    assert (tiles.canonical.lbo, tiles.canonical.sbo) == (None, 512)


# One instruction's reads, by hand.


@pytest.mark.parametrize(
    "descriptor, major, row, k, address",
    [
        # K-major: row 9, byte 18 along k.
        (WgmmaDescriptor(0x400, 256, 512), "k", 9, 9, 0x400 + 512 + 256 + 16 + 2),
        (WgmmaDescriptor(0x400, 16, 512, 0, Swizzle.B32), "k", 9, 9, 0x400 + 512 + 32 + 18),
        (WgmmaDescriptor(0x400, 16, 1024, 0, Swizzle.B128), "k", 9, 9, 0x400 + 1024 + 128 + 2),
        # MN-major: row 70, k 9.
        (WgmmaDescriptor(0x400, 4096, 128), "mn", 70, 9, 0x400 + 8 * 128 + 12 + 16 + 4096),
        (
            WgmmaDescriptor(0x400, 4096, 1024, 0, Swizzle.B128),
            *("mn", 70, 9, 0x400 + 4096 + 12 + 128 + 1024 + 16),
        ),
        # The base offset shifts the phase of line 1 to 0.
        (WgmmaDescriptor(0x480, 16, 1024, 1, Swizzle.B128), "k", 0, 9, 0x480 + 18),
        (WgmmaDescriptor(0x480, 16, 1024, 0, Swizzle.B128), "k", 0, 9, 0x480 + 2),
    ],
)
def test_an_element_of_bf16(descriptor, major, row, k, address):
    assert operand_addresses(descriptor.encode(), "bf16", major, 128)[row, k] == address


@pytest.mark.parametrize("element_type", ELEMENTS.values(), ids=str)
def test_reads_have_the_instructions_shape(element_type):
    descriptor = WgmmaDescriptor(0x400, 128, 256).encode()
    read = operand_addresses(descriptor, element_type.name, "k", 64)
    assert (read.shape, read.dtype) == ((64, instruction_k(element_type)), np.int64)


# Descriptors and steps, by hand.


def test_a_k_major_operand_steps_within_its_lines():
    tile = tile_of_atoms(element("f16"), (128, 64), 1, Swizzle.B128)
    tiles = mma_tiles(tile, Role.A)
    assert tiles.descriptor(0).encode() == 0x4000_0040_0001_0000
    assert tiles.pieces == (64, 64)
    assert tiles.steps == ((0, 2, 4, 6), (512, 514, 516, 518))


def test_an_mn_major_operand_steps_over_lines():
    tile = tile_of_atoms(element("f16"), (64, 128), 1, Swizzle.B128)
    tiles = mma_tiles(tile, Role.B)
    assert tiles.descriptor(0).encode() == 0x4000_0040_0200_0000
    assert tiles.pieces == (128,)
    assert tiles.steps == ((0, 128, 256, 384),)


def test_strides_are_of_the_tile_not_of_the_mma_tile():
    tile = tile_of_atoms(BF16, (128, 64), 1, Swizzle.B128, TileOrder.ALONG)
    wide = tile_of_atoms(BF16, (128, 256), 1, Swizzle.B128, TileOrder.ALONG)
    assert mma_tiles(tile, Role.A).canonical.sbo == 1024
    assert mma_tiles(wide, Role.A).canonical.sbo == 4096


def test_the_narrowest_mma_tile_has_the_strides_of_the_others():
    tile = tile_of_atoms(BF16, (264, 16), 1, Swizzle.NONE).transposed()
    tiles = mma_tiles(tile, Role.B)
    assert tiles.pieces == (256, 8)
    assert tiles.canonical == Canonical(FORMS[Major.K, Swizzle.NONE], 33 * 128, 128)


def test_roles():
    tile = tile_of_atoms(BF16, (64, 128), 1, Swizzle.B128)
    assert (Role.A.extent_name, Role.B.extent_name) == ("M", "N")
    assert (Role.A.orient(tile).shape, Role.B.orient(tile).shape) == ((64, 128), (128, 64))


# Refusals.


@pytest.mark.parametrize(
    "element_type, shape, role, reason",
    [
        ("bf16", (96, 64), Role.A, "M is 96, not a multiple of 64"),
        ("bf16", (64, 12), Role.B, "N is 12; expected a multiple of 8, for example 8 or 16"),
        ("s8", (64, 36), Role.B, "N is 36; expected a multiple of 8, for example 32 or 40"),
        ("bf16", (64, 24), Role.A, r"k is 24, not a multiple of 16 \(32 bytes of bf16\)"),
        ("b1", (64, 128), Role.A, r"k is 128, not a multiple of 256 \(32 bytes of b1\)"),
    ],
)
def test_extents_that_no_instruction_has(element_type, shape, role, reason):
    contiguous = 1 if role is Role.A else 0
    mismatch = mma_tiles(
        tile_of_atoms(element(element_type), shape, contiguous, Swizzle.NONE), role
    )
    assert isinstance(mismatch, Mismatch) and re.search(reason, mismatch.reason)


@pytest.mark.parametrize("element_type", ["tf32", "e4m3", "e5m2", "s8", "u8", "b1"])
@pytest.mark.parametrize(
    "role, contiguous, major", [(Role.A, 0, "M-major"), (Role.B, 1, "N-major")]
)
def test_only_16_bit_types_are_read_mn_major(element_type, role, contiguous, major):
    tile = tile_of_atoms(element(element_type), (256, 256), contiguous, Swizzle.NONE)
    reason = f"the tile is {major}, but wgmma reads {element_type} K-major only .* 16-bit types"
    mismatch = mma_tiles(tile, role)
    assert isinstance(mismatch, Mismatch) and re.search(reason, mismatch.reason)


def test_modes_of_one_element_do_not_hide_the_major():
    tile = parse_layout("Swizzle<3,4,3> o ((1,32,2),8):((0,1,256),32)", TF32)
    mismatch = mma_tiles(tile, Role.A)
    assert isinstance(mismatch, Mismatch) and "the tile is M-major" in mismatch.reason


def test_a_staged_tile_is_no_operand():
    mismatch = mma_tiles(tile_of_atoms(BF16, (4, 64, 64), 1, Swizzle.B128), Role.A)
    assert isinstance(mismatch, Mismatch) and "rank 3" in mismatch.reason


def test_an_mma_tile_that_is_not_canonical_is_named():
    tile = parse_layout("Swizzle<3,4,3> o (128,64):(72,1)", BF16)
    mismatch = mma_tiles(tile, Role.A)
    assert isinstance(mismatch, Mismatch) and mismatch.reason.startswith(
        "the MMA tile of 64x16 at (0, 0): along m/n, the stride of factor 8 is 72"
    )


def test_an_mma_tile_that_cuts_an_atom_is_named():
    operand = tile_of_atoms(BF16, (96, 16), 0, Swizzle.B128)
    mismatch = operand_mma_tiles(operand, (32, 64), WgmmaDescriptor)
    assert isinstance(mismatch, Mismatch) and mismatch.reason.startswith(
        "the MMA tile of 64x16 at (32, 0): it cuts an atom: along m/n, it begins 32 "
        "elements into one of 64 and is 64 long, but the next is 1024 elements apart and no "
        "descriptor reads across; begin at a multiple of 64"
    )


def test_an_mma_tile_between_16_byte_units_is_named():
    operand = parse_layout("((8,2),(8,2)):((8,132),(1,64))", BF16)
    assert operand_mma_tiles(operand, (8, 8), WgmmaDescriptor) == Mismatch(
        "the MMA tile of 8x16 at (8, 0) starts 132 elements into the tile, which is not "
        "a multiple of 16 bytes"
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0, "fp8", "k", 64), "unknown element type 'fp8'"),
        ((0, "bf16", "n", 64), "'n' is not a valid Major"),
        ((0, "tf32", "mn", 64), "wgmma reads tf32 K-major only; MN-major is for 16-bit types"),
        ((1 << 46, "bf16", "k", 64), "sets bits 0x0000400000000000, which belong to no field"),
    ],
)
def test_addresses_of_operands_that_wgmma_does_not_read(arguments, message):
    with pytest.raises(ValueError, match=message):
        operand_addresses(*arguments)


# Instructions of a given extent.


@pytest.mark.parametrize("rows, count", [(None, 1), (64, 4), (128, 2), (256, 1)])
def test_the_rows_of_each_instruction_can_be_given(rows, count):
    tile = tile_of_atoms(BF16, (64, 256), 1, Swizzle.B128)
    assert mma_tiles(tile, Role.B, rows=rows).pieces == (256 // count,) * count


@pytest.mark.parametrize(
    "role, rows, reason",
    [
        (Role.A, 128, "no instruction on bf16 has M = 128"),
        (Role.B, 12, "no instruction on bf16 has N = 12"),
        (
            Role.B,
            24,
            "instructions of N = 24 do not cut N = 64 evenly; N = 8, 16, 32, 64 do",
        ),
    ],
)
def test_rows_that_no_instruction_has(role, rows, reason):
    tile = tile_of_atoms(BF16, (64, 64), 1, Swizzle.B128)
    assert mma_tiles(tile, role, rows=rows) == Mismatch(reason)
