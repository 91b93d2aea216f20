"""Operands of tcgen05: how tiles are cut into MMA tiles, and refusals."""

import pytest

from mlir_smem.layout import Mismatch, Role, Swizzle, element, parse_layout, tile_of_atoms
from mlir_smem.layout.tcgen05 import KINDS, Tcgen05Instruction, kind_of, tcgen05_mma_tiles

BF16 = element("bf16")
F16_KIND = KINDS["f16"]


@pytest.mark.parametrize(
    "shape, role, ctas, pieces",
    [
        ((256, 64), Role.A, 1, (128, 128)),
        ((192, 64), Role.A, 1, (64, 64, 64)),
        ((64, 64), Role.A, 1, (64,)),
        ((128, 64), Role.A, 2, (128,)),
        ((64, 64), Role.A, 2, (64,)),
        ((64, 512), Role.B, 1, (256, 256)),
        ((64, 264), Role.B, 1, (256, 8)),
        ((64, 128), Role.B, 2, (128,)),
        ((64, 192), Role.B, 2, (128, 64)),
    ],
)
def test_a_tile_is_cut_into_instructions(shape, role, ctas, pieces):
    tile = tile_of_atoms(BF16, shape, 1 if role is Role.A else 0, Swizzle.B128)
    assert tcgen05_mma_tiles(tile, role, F16_KIND, ctas).pieces == pieces


@pytest.mark.parametrize(
    "shape, role, ctas, rows, pieces",
    [
        ((256, 64), Role.A, 1, 64, (64,) * 4),
        ((256, 64), Role.A, 2, 64, (64,) * 4),
        ((64, 256), Role.B, 1, 128, (128, 128)),
        ((64, 96), Role.B, 2, 48, (48, 48)),
        (
            (256, 64),
            Role.A,
            1,
            96,
            "no instruction of kind::f16 with cta_group::1 on bf16 has M = 96",
        ),
        (
            (64, 256),
            Role.B,
            2,
            4,
            "no instruction of kind::f16 with cta_group::2 on bf16 has N = 8",
        ),
        (
            (64, 256),
            Role.B,
            1,
            96,
            "instructions of N = 96 do not cut N = 256 evenly; N = 8, 16, 32, 64, 128, 256 do",
        ),
    ],
)
def test_rows_of_each_instruction(shape, role, ctas, rows, pieces):
    tile = tile_of_atoms(BF16, shape, 1 if role is Role.A else 0, Swizzle.B128)
    tiles = tcgen05_mma_tiles(tile, role, F16_KIND, ctas, rows)
    assert (tiles.reason if isinstance(tiles, Mismatch) else tiles.pieces) == pieces


@pytest.mark.parametrize(
    "tile, role, kind, ctas, message",
    [
        (
            tile_of_atoms(BF16, (2, 128, 64), 1, Swizzle.B128),
            Role.A,
            "f16",
            1,
            "an operand has rank 2, but the tile has rank 3: use one stage of it",
        ),
        (
            tile_of_atoms(BF16, (128, 64), 1, Swizzle.B128),
            Role.A,
            "tf32",
            1,
            "kind::tf32 does not multiply bf16; it takes tf32",
        ),
        (
            tile_of_atoms(BF16, (32, 64), 1, Swizzle.B128),
            Role.A,
            "f16",
            1,
            "M is 32; expected a multiple of 64 for kind::f16 with cta_group::1",
        ),
        (
            tile_of_atoms(BF16, (96, 64), 1, Swizzle.B128),
            Role.A,
            "f16",
            2,
            "M is 192; expected a multiple of 128 for kind::f16 with cta_group::2",
        ),
        (
            tile_of_atoms(BF16, (64, 12), 0, Swizzle.B128),
            Role.B,
            "f16",
            1,
            "N is 12; kind::f16 with cta_group::1 takes N of 8 to 256 by 8, or several of them",
        ),
        (
            tile_of_atoms(element("e4m3"), (64, 24), 1, Swizzle.NONE),
            Role.B,
            "f8f6f4",
            1,
            "N is 24; kind::f8f6f4 with cta_group::1 takes N of 16 to 256 by 16",
        ),
        (
            tile_of_atoms(element("tf32"), (32, 64), 1, Swizzle.B128),
            Role.B,
            "tf32",
            1,
            "the tile is N-major with swizzle 128B, but tcgen05 reads tf32 so with 128B_ATOM_32B",
        ),
        (
            tile_of_atoms(BF16, (128, 64), 1, Swizzle.B128_ATOM_32B),
            Role.A,
            "f16",
            1,
            "the tile is K-major with swizzle 128B_ATOM_32B, but tcgen05 reads bf16 so "
            "with 128B or 64B or 32B or none",
        ),
        (
            tile_of_atoms(element("e2m3_p32"), (128, 64), 0, Swizzle.B128),
            Role.A,
            "f8f6f4",
            1,
            "the tile is M-major, but tcgen05 reads e2m3_p32 K-major only",
        ),
        (parse_layout("(128,64):(128,2)", BF16), Role.A, "f16", 1, "no dimension is contiguous"),
        (
            parse_layout("(128,64):(64,1)", BF16),
            Role.A,
            "f16",
            1,
            "the stride of factor 8 is 64 elements where 1T = 8 is needed",
        ),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_what_cannot_be_read(tile, role, kind, ctas, message):
    mismatch = tcgen05_mma_tiles(tile, role, KINDS[kind], ctas)
    assert isinstance(mismatch, Mismatch)
    assert message in mismatch.reason


def test_a_use_evaluates_a_subtile():
    use = Tcgen05Instruction(F16_KIND).use("mma A", Role.A)
    assert use.evaluate(tile_of_atoms(BF16, (128, 64), 1, Swizzle.B128)).reason == (
        "K-major, Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))"
    )
    assert not use.evaluate(tile_of_atoms(BF16, (100, 64), 1, Swizzle.B128)).accepted


@pytest.mark.parametrize(
    "a, b, scaled, kind",
    [
        ("bf16", "bf16", False, "f16"),
        ("e4m3", "e2m1_p64", False, "f8f6f4"),
        ("e4m3", "e2m1_p64", True, "mxf8f6f4"),
        ("u8", "s8", False, "i8"),
        ("e2m1", "e2m1", True, "mxf4"),
        ("f16", "bf16", False, None),
        ("e2m1", "e2m1", False, None),
        ("bf16", "bf16", True, None),
    ],
)
def test_the_kind_of_two_types(a, b, scaled, kind):
    assert kind_of(element(a), element(b), scaled) == (kind and KINDS[kind])
