"""Tiles as operands of tcgen05: matched, encoded and diagnosed."""

import numpy as np
import pytest

from mlir_smem.advisor import (
    Operand,
    diagnose,
    encode,
    encode_operand,
    match_map,
    match_tile,
    operand_of,
)
from mlir_smem.layout import (
    Arch,
    LayoutError,
    Major,
    Mismatch,
    Role,
    Swizzle,
    element,
    instruction_k,
    tile_of_atoms,
)
from mlir_smem.layout import WgmmaDescriptor as WgmmaDescriptor
from mlir_smem.layout.element_map import element_offsets
from mlir_smem.layout.tcgen05 import Tcgen05Descriptor

BF16, TF32, E2M1 = element("bf16"), element("tf32"), element("e2m1")
ATOMS = Swizzle.B128_ATOM_32B
A = tile_of_atoms(BF16, (128, 64), 1, Swizzle.B128)
A_TF32 = tile_of_atoms(TF32, (128, 32), 0, ATOMS)
RIGHT = Tcgen05Descriptor(0x800, 16, 1024, swizzle=Swizzle.B128)


def match(tile, role=Role.A, arch=Arch.SM_100, rows=None):
    return match_tile(tile, role, rows, arch)


# Fields.


def test_fields():
    data = encode(0x800, 16, 1024, Swizzle.B128, arch=Arch.SM_100).data()
    assert (data["arch"], data["descriptor"]) == ("sm_100", "0x4000404000010080")
    assert data["suspicions"] == []
    assert encode(0, 4096, 512, ATOMS, arch=Arch.SM_100).bits >> 61 == 1


def test_an_absolute_lbo():
    answer = encode(0x860, 0x4800, 1024, Swizzle.B128, arch=Arch.SM_103, absolute=True)
    assert answer.bits == 0x4010404004800086
    assert answer.data()["fields"]["absolute"]
    assert "LBO is an absolute address" in str(answer)


ONLY_SM_103 = "LBO is an absolute address, which only sm_103 has; on "


@pytest.mark.parametrize(
    "swizzle, offset, arch, absolute, problem",
    [
        (Swizzle.B128, 0, Arch.SM_90, True, f"{ONLY_SM_103}sm_90 it is a relative offset"),
        (Swizzle.B128, 0, Arch.SM_100, True, f"{ONLY_SM_103}sm_100 it is a relative offset"),
        (Swizzle.B64, 0, Arch.SM_103, True, "the leading dimension is absolute with swizzle 64B"),
        (Swizzle.B128, 2, Arch.SM_103, True, "the leading dimension is absolute with base offset 2"),
        (ATOMS, 0, Arch.SM_90, False, "wgmma has no swizzle 128B_ATOM_32B; expected 128B, 64B, 32B"),
    ],
)  # fmt: skip
def test_fields_that_a_descriptor_cannot_hold(swizzle, offset, arch, absolute, problem):
    with pytest.raises(LayoutError, match=problem):
        encode(0, 0x400, 1024, swizzle, offset, arch, absolute)


# Tiles.


def test_a_tile_with_32_byte_atomicity():
    answer = match(A_TF32)
    assert str(answer) == (
        "matches     MN-major: Swizzle<2,5,2> o ((T,8,m),(4,k)):((1,T,LBO),(8T,SBO))\n"
        "layout      Swizzle<2,5,2> o ((32,4),32):((1,1024),32)\n"
        "LBO         4096 bytes\n"
        "SBO         512 bytes\n"
        "descriptor  0x2000402001000000 | (address & 0x3ffff) >> 4\n"
        "k steps     +0, +64, +128, +192 (16-byte units; each 8 of k)"
    )


@pytest.mark.parametrize("name", ["e2m1", "e2m1_p64", "e2m3_p32", "e3m2_p32"])
@pytest.mark.parametrize("arch", [Arch.SM_100, Arch.SM_103], ids=str)
def test_narrow_types(name, arch):
    element_type = element(name)
    tile = tile_of_atoms(element_type, (128, 4 * instruction_k(element_type)), 1, Swizzle.B128)
    assert match(tile, arch=arch).encoded.operand.k_steps == (0, 2, 4, 6)
    assert match(tile, arch=Arch.SM_90).found == Mismatch(
        f"{name} is not an A or B element type of wgmma"
    )


def test_the_most_rows_that_an_instruction_has():
    assert operand_of(A, Role.A, arch=Arch.SM_100).mma_tiles.pieces == (128,)
    assert operand_of(A, Role.A, 64, Arch.SM_100).mma_tiles.pieces == (64, 64)
    b = tile_of_atoms(BF16, (64, 264), 0, Swizzle.B128)
    assert operand_of(b, Role.B, arch=Arch.SM_100).mma_tiles.pieces == (256, 8)


def test_stages():
    tile = tile_of_atoms(E2M1, (3, 128, 256), 1, Swizzle.B128)
    operand = operand_of(tile, Role.A, arch=Arch.SM_100)
    assert operand.stage_steps == (0, 1024, 2048)
    assert encode_operand(operand).bits == 0x4000404000010000


def test_mn_major_32_bit_types_need_32_byte_atomicity():
    answer = match(tile_of_atoms(TF32, (128, 32), 0, Swizzle.B128))
    assert answer.found == Mismatch(
        "the tile is M-major with swizzle 128B, but tcgen05 reads tf32 so with 128B_ATOM_32B"
    )
    assert answer.matching_swizzles == (ATOMS,)
    assert answer.nearest.layout == A_TF32


def test_32_byte_atomicity_of_other_operands():
    tile = tile_of_atoms(BF16, (128, 64), 1, ATOMS)
    assert match(tile).matching_swizzles == (Swizzle.B128,)
    assert "tcgen05 reads bf16 so with 128B or 64B or 32B or none" in match(tile).found.reason
    hopper = match(tile, arch=Arch.SM_90)
    assert hopper.found == Mismatch("wgmma has no swizzle 128B_ATOM_32B; tcgen05 has")
    assert hopper.nearest.layout == A


def test_integers_are_legal_only_on_sm_100():
    tile = tile_of_atoms(element("s8"), (128, 128), 1, Swizzle.B128)
    assert isinstance(match(tile).found, Operand)
    answer = match(tile, arch=Arch.SM_103)
    assert answer.found == Mismatch("s8 is not an A or B element type of tcgen05 on sm_103")
    assert answer.nearest is None


def test_a_map():
    answer = match_map(element_offsets(A_TF32) + 0x800 // 4, TF32, Role.A, arch=Arch.SM_100)
    assert (answer.start, answer.layout, answer.arch) == (0x800, A_TF32, Arch.SM_100)
    assert answer.encoded.bits == 0x2000402001000000
    assert answer.data()["arch"] == "sm_100"


# Diagnoses.


def test_a_right_descriptor():
    answer = diagnose(match(A), RIGHT.encode(), (0, 2, 4, 6))
    assert str(answer) == "all 8192 elements are read where they were written"
    packed = match(tile_of_atoms(E2M1, (128, 256), 1, Swizzle.B128), arch=Arch.SM_103)
    assert not diagnose(packed, RIGHT.encode(), (0, 2, 4, 6)).wrong.any()


def test_elements_of_a_byte_are_distinguished():
    packed = match(tile_of_atoms(E2M1, (128, 256), 1, Swizzle.B128), arch=Arch.SM_103)
    answer = diagnose(packed, RIGHT.encode() + 2, (0,), tile=0x800)
    assert (answer.actual[0, :4] == np.array([[0, 64], [0, 65], [0, 66], [0, 67]])).all()


def test_a_descriptor_of_wgmma():
    bits = WgmmaDescriptor(0x800, 16, 1024, 0, Swizzle.B128).encode()
    answer = diagnose(match(A), bits, (0, 2, 4, 6))
    assert not answer.wrong.any()
    assert answer.causes == (
        "bits 46-48 are 0, but the version of a tcgen05 descriptor is 1: "
        "--arch sm_90 decodes it as wgmma",
    )
    assert str(answer).endswith(
        f"expected descriptor {RIGHT.encode():#018x}, k steps 0, 2, 4, 6 (16-byte units)"
    )


def test_lbo_and_sbo_exchanged():
    bits = Tcgen05Descriptor(0x800, 512, 4096, swizzle=ATOMS).encode()
    answer = diagnose(match(A_TF32), bits, (0, 64))
    assert answer.causes[0] == "LBO and SBO are exchanged"
    assert "SBO is 4096, where the layout has 512: m/n 0..127, k 4..7" in answer.causes[2]


def test_a_swizzle_that_is_illegal_for_the_type():
    bits = Tcgen05Descriptor(0x800, 4096, 512, swizzle=Swizzle.B128).encode()
    text = "tcgen05 reads tf32 MN-major with swizzle 128B_ATOM_32B, not 128B"
    with pytest.raises(LayoutError, match=text):
        diagnose(match(A_TF32), bits)
    # It is read as a K-major operand, which is not what was written.
    causes = diagnose(match(A_TF32), bits, major=Major.K).causes
    assert causes[0] == "the instruction reads the operand as K-major, but the tile is MN-major"
    assert "the swizzle is 128B, where the layout has 128B_ATOM_32B" in causes


def test_an_unneeded_absolute_lbo():
    bits = Tcgen05Descriptor(0x800, 0, 1024, swizzle=Swizzle.B128, absolute=True).encode()
    (cause,) = diagnose(match(A, arch=Arch.SM_103), bits).causes
    assert cause.startswith("LBO is an address (bit 52), which is for a K of 48 bytes")
    (cause,) = diagnose(match(A), bits).causes
    assert cause.startswith("bit 52 makes LBO an absolute address, which only sm_103 has")


def test_a_tile_that_no_instruction_reads():
    plain = match(tile_of_atoms(BF16, (128, 64), 1, ATOMS))
    causes = diagnose(plain, RIGHT.encode()).causes
    assert causes[0].startswith("no descriptor reads the tile: the tile is K-major with swizzle")
    assert causes[1] == "this descriptor reads Swizzle<3,4,3> o ((8,16),(8,2)):((64,512),(1,8))"
