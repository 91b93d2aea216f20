"""Operands with K blocks of 48 bytes, in two chunks if they cross the end of a row of 128 bytes."""

import numpy as np
import pytest

from mlir_smem.layout import Mismatch, Multiple, Role, Swizzle, TileOrder, element, tile_of_atoms
from mlir_smem.layout.tcgen05 import (
    KINDS,
    Tcgen05Descriptor,
    Tcgen05Instruction,
    chunked_mma_tiles,
    tcgen05_addresses,
)

E2M1, NVF4 = element("e2m1"), KINDS["mxf4nvf4"]
TILE = tile_of_atoms(E2M1, (128, 768), 1, Swizzle.B128)


def test_descriptors_of_a_tile_of_384_bytes():
    tiles = chunked_mma_tiles(TILE, Role.A, NVF4)
    bits = [tiles.tile_descriptor(0, k, 0x800).encode() for k in range(8)]
    # Those of K blocks 2 and 5 are CUTLASS's. CUTLASS also sets the absolute mode in the others, without
    # effect.
    assert [hex(b) for b in bits] == [
        "0x4000404000010080",
        "0x4000404000010083",
        "0x4010404004800086",
        "0x4000404000010481",
        "0x4000404000010484",
        "0x4010404008800487",
        "0x4000404000010882",
        "0x4000404000010885",
    ]
    assert str(tiles) == ("K-major, 8 K blocks of 48 bytes, in two chunks: 2, 5")


@pytest.mark.parametrize("order", TileOrder, ids=str)
@pytest.mark.parametrize(
    "role, shape", [(Role.A, (256, 768)), (Role.B, (480, 384)), (Role.A, (128, 96))]
)
def test_what_is_read_is_what_was_written(role, shape, order):
    operand = tile_of_atoms(E2M1, shape, 1, Swizzle.B128, order)
    tiles = chunked_mma_tiles(role.orient(operand), role, NVF4)
    offsets, row = operand.offsets(), 0
    for mn, piece in enumerate(tiles.pieces):
        for k in range(shape[1] // 96):
            bits = tiles.tile_descriptor(mn, k, 0x400).encode()
            read = tcgen05_addresses(bits, "e2m1", "k", piece, 48)
            written = offsets[row : row + piece, 96 * k : 96 * (k + 1)]
            assert np.array_equal(read, 0x400 + written)
        row += piece
    assert row == shape[0]


def test_a_row_that_holds_all_steps_has_no_second_chunk():
    tiles = chunked_mma_tiles(tile_of_atoms(E2M1, (128, 192), 1, Swizzle.B128), Role.A, NVF4)
    assert tiles.seconds == ((None, None),)
    assert str(tiles) == "K-major, 2 K blocks of 48 bytes, in two chunks: none"


def test_an_absolute_address_needs_an_aligned_tile():
    with pytest.raises(
        ValueError, match="the tile begins at 0x80; with an absolute leading dimension"
    ):
        chunked_mma_tiles(TILE, Role.A, NVF4).tile_descriptor(0, 2, 0x80)


@pytest.mark.parametrize(
    "tile, kind, message",
    [
        (
            TILE,
            "mxf8f6f4",
            "K steps of 48 bytes are of 4-bit types in kind::mxf4 and kind::mxf4nvf4, not "
            "of e2m1 in kind::mxf8f6f4",
        ),
        (
            tile_of_atoms(element("e4m3"), (128, 384), 1, Swizzle.B128),
            "mxf4",
            "not of e4m3 in kind::mxf4",
        ),
        (
            tile_of_atoms(E2M1, (128, 768), 1, Swizzle.B64),
            "mxf4",
            "which needs swizzle 128B with atoms of 16 bytes, not 64B",
        ),
        (
            tile_of_atoms(E2M1, (256, 96), 0, Swizzle.B128),
            "mxf4",
            "the tile is M-major, but tcgen05 reads e2m1 K-major only",
        ),
        (
            tile_of_atoms(E2M1, (128, 256), 1, Swizzle.B128),
            "mxf4",
            "k is 256, not a multiple of 96 (48 bytes)",
        ),
        (
            tile_of_atoms(E2M1, (64, 768), 1, Swizzle.B128),
            "mxf4",
            "M is 64; expected a multiple of 128",
        ),
        (
            TILE.slice((0, Multiple(96)), (128, 96)).layout,
            "mxf4",
            "begin at a position known at run time only; use whole tiles",
        ),
        (
            TILE.slice((0, 192), (128, 192)).layout,
            "mxf4",
            "the atoms of 128x192 at (0, 0) cut atoms: they begin at (0,192) within them",
        ),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_what_cannot_be_read_so(tile, kind, message):
    mismatch = chunked_mma_tiles(tile, Role.A, KINDS[kind])
    assert isinstance(mismatch, Mismatch)
    assert message in mismatch.reason


def test_an_evaluation_states_the_k_blocks():
    use = Tcgen05Instruction(NVF4, long_k=True).use("mma A", Role.A)
    assert use.evaluate(TILE).reason.startswith("K-major, 8 K blocks of 48 bytes")
    assert not use.evaluate(tile_of_atoms(E2M1, (128, 768), 1, Swizzle.B32)).accepted


def test_only_the_base_offset_zero_is_absolute():
    with pytest.raises(ValueError, match="base offset 1; expected 0"):
        Tcgen05Descriptor(0, 16, 1024, 1, Swizzle.B128, True)
