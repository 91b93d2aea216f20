"""Differences between architectures: descriptors, swizzles, types, addresses and MMA tiles."""

import pickle

import pytest

from mlir_smem.layout import (
    ARCHS,
    ELEMENTS,
    Arch,
    Major,
    Mismatch,
    Role,
    Swizzle,
    WgmmaDescriptor,
    element,
    mma_tiles,
    operand_addresses,
    operand_problem,
    tile_of_atoms,
)
from mlir_smem.layout.elements import NARROW
from mlir_smem.layout.swizzle import WIDEST_FIRST
from mlir_smem.layout.tcgen05 import TCGEN05_WIDEST_FIRST, Tcgen05Descriptor, tcgen05_addresses
from mlir_smem.layout.text_error import TextError

BF16 = element("bf16")
EVERY = (ELEMENTS | NARROW).values()


@pytest.mark.parametrize(
    "text, arch",
    [
        ("sm_90", Arch.SM_90),
        ("sm_90a", Arch.SM_90),
        ("sm_100", Arch.SM_100),
        ("sm_100a", Arch.SM_100),
        ("sm_100f", Arch.SM_100),
        ("sm_103a", Arch.SM_103),
    ],
)
def test_names(text, arch):
    assert Arch.parse(text) is arch
    assert Arch.parse(str(arch)) is arch


@pytest.mark.parametrize("text", ["", "sm_80", "90", "sm_90b", "sm_100aa", " sm_90"])
def test_other_names_are_refused(text):
    with pytest.raises(TextError, match="expected one of sm_90, sm_100, sm_103"):
        Arch.parse(text)


def test_descriptors_and_swizzles():
    assert [arch.descriptor for arch in Arch] == [WgmmaDescriptor, *[Tcgen05Descriptor] * 2]
    assert [arch.swizzles for arch in Arch] == [WIDEST_FIRST, *[TCGEN05_WIDEST_FIRST] * 2]
    assert all(len(set(arch.swizzles)) == len(arch.swizzles) for arch in Arch)
    for arch in Arch:
        assert set(arch.descriptor.modes) == set(arch.swizzles)
        assert {swizzle for _, swizzle in arch.forms} == set(arch.swizzles)


def test_types():
    hopper = "f16 bf16 tf32 e4m3 e5m2 s8 u8 b1"
    blackwell = "f16 bf16 tf32 e4m3 e5m2 s8 u8 e2m1 e2m1_p64 e2m3_p32 e3m2_p32"
    ultra = "f16 bf16 tf32 e4m3 e5m2 e2m1 e2m1_p64 e2m3_p32 e3m2_p32"
    for arch, names in zip(Arch, (hopper, blackwell, ultra), strict=True):
        assert list(arch.elements) == names.split()


@pytest.mark.parametrize("arch", Arch, ids=str)
def test_what_is_read_has_a_form(arch):
    for element_type in EVERY:
        majors = arch.majors_of(element_type)
        assert bool(majors) == arch.multiplies(element_type)
        for major in majors:
            assert {(major, s) for s in arch.swizzles_of(element_type, major)} <= set(arch.forms)


@pytest.mark.parametrize(
    "arch, name, major, swizzles",
    [
        (Arch.SM_90, "bf16", Major.MN, WIDEST_FIRST),
        (Arch.SM_90, "e4m3", Major.MN, ()),
        (Arch.SM_90, "tf32", Major.MN, ()),
        (Arch.SM_90, "e2m1", Major.K, ()),
        (Arch.SM_100, "e4m3", Major.MN, WIDEST_FIRST),
        (Arch.SM_100, "tf32", Major.MN, (Swizzle.B128_ATOM_32B,)),
        (Arch.SM_100, "tf32", Major.K, WIDEST_FIRST),
        (Arch.SM_100, "e2m1", Major.MN, ()),
        (Arch.SM_100, "b1", Major.K, ()),
        (Arch.SM_103, "s8", Major.K, ()),
    ],
)
def test_swizzles_of_a_type(arch, name, major, swizzles):
    assert arch.swizzles_of(element(name), major) == swizzles


def test_addresses():
    hopper = WgmmaDescriptor(0x400, 16, 1024, 0, Swizzle.B128).encode()
    assert (
        Arch.SM_90.addresses(hopper, BF16, Major.K, 64)
        == operand_addresses(hopper, "bf16", "k", 64)
    ).all()
    blackwell = Tcgen05Descriptor(0x400, 16, 1024, 0, Swizzle.B128).encode()
    e2m1 = element("e2m1")
    assert (
        Arch.SM_103.addresses(blackwell, e2m1, Major.K, 128, 48)
        == tcgen05_addresses(blackwell, "e2m1", "k", 128, 48)
    ).all()


@pytest.mark.parametrize(
    "arch, k_bytes, has", [(Arch.SM_90, 48, "32"), (Arch.SM_100, 48, "32"), (Arch.SM_103, 64, "32 or 48")]
)  # fmt: skip
def test_a_k_that_the_architecture_does_not_have(arch, k_bytes, has):
    with pytest.raises(
        ValueError, match=f"K is {k_bytes} bytes, but {arch} reads {has} of each row"
    ):
        arch.addresses(0, BF16, Major.K, 64, k_bytes)


def test_mma_tiles():
    tile = tile_of_atoms(BF16, (256, 64), 1, Swizzle.B128)
    assert Arch.SM_90.mma_tiles(tile, Role.A) == mma_tiles(tile, Role.A)
    assert Arch.SM_100.mma_tiles(tile, Role.A).pieces == (128, 128)
    assert Arch.SM_100.mma_tiles(tile, Role.A, rows=64).pieces == (64,) * 4
    assert isinstance(Arch.SM_100.mma_tiles(tile, Role.A).descriptor(0), Tcgen05Descriptor)


@pytest.mark.parametrize(
    "arch, name, reason",
    [
        (Arch.SM_90, "s32", "s32 is not an A or B element type of wgmma"),
        (Arch.SM_100, "b1", "b1 is not an A or B element type of tcgen05"),
        (Arch.SM_103, "s8", "s8 is not an A or B element type of tcgen05 on sm_103"),
    ],
)
def test_what_is_not_multiplied(arch, name, reason):
    tile = tile_of_atoms(element(name), (128, 256), 1, Swizzle.B128)
    assert arch.mma_tiles(tile, Role.A) == Mismatch(reason)


@pytest.mark.parametrize(
    "arch, a, b, sparse, refusal",
    [
        (Arch.SM_90, "e4m3", "e5m2", False, None),
        (Arch.SM_90, "e4m3", "e5m2", True, None),
        (Arch.SM_100, "s8", "u8", False, None),
        (Arch.SM_103, "e2m1_p64", "e4m3", False, None),
        (
            Arch.SM_90,
            "e4m3",
            "e2m3_p32",
            False,
            "multiplies e4m3 by e2m3_p32, which wgmma does not; tcgen05 (sm_100, sm_103) does",
        ),
        (
            Arch.SM_100,
            "b1",
            "b1",
            False,
            "multiplies b1 by b1, which tcgen05 does not; wgmma (sm_90) does",
        ),
        (
            Arch.SM_103,
            "s8",
            "u8",
            False,
            "multiplies s8 by u8, which tcgen05 on sm_103 does not; wgmma (sm_90) and "
            "tcgen05 (sm_100) do",
        ),
        (
            Arch.SM_100,
            "f16",
            "f16",
            True,
            "multiplies a sparse A, which is lowered for wgmma (sm_90) only, not for sm_100",
        ),
    ],
)
def test_what_is_multiplied_where(arch, a, b, sparse, refusal):
    assert arch.refusal(element(a), element(b), sparse) == refusal


def test_sparse_mma_tiles():
    tile = tile_of_atoms(BF16, (64, 64), 1, Swizzle.B128)
    assert Arch.SM_90.mma_tiles(tile, Role.A, sparse=True) == mma_tiles(tile, Role.A, sparse=True)
    reason = "no sparse operands are lowered for sm_100"
    assert Arch.SM_100.mma_tiles(tile, Role.A, sparse=True) == Mismatch(reason)


@pytest.mark.parametrize(
    "name, contiguous, swizzle, sparse, problem",
    [
        ("bf16", 1, Swizzle.B128, False, None),
        ("e4m3", 0, Swizzle.B64, False, None),
        ("tf32", 0, Swizzle.B128_ATOM_32B, False, None),
        ("e2m3_p32", 1, Swizzle.B128, False, None),
        ("e2m3_p32", 0, Swizzle.B64, False, "is M-major, but tcgen05 reads e2m3_p32 K-major only"),
        (
            "tf32",
            0,
            Swizzle.B128,
            False,
            "(smem.copy with the unit attribute relayout), and tcgen05 (sm_100) can read it so; the tile "
            "is M-major with swizzle 128B, but tcgen05 reads tf32 so with 128B_ATOM_32B",
        ),
        (
            "e4m3",
            0,
            Swizzle.B64,
            True,
            "a copy can make it K-major (smem.copy with the unit attribute relayout)",
        ),
    ],
)  # fmt: skip
def test_what_is_read_nowhere(name, contiguous, swizzle, sparse, problem):
    tile = tile_of_atoms(element(name), (128, 128), contiguous, swizzle)
    message = operand_problem(tile, Role.A, sparse, 1)
    assert message is problem is None or message.endswith(problem)


@pytest.mark.parametrize("arch", Arch, ids=str)
def test_uses(arch):
    use = arch.use("A", Role.A, BF16)
    assert use.evaluate(tile_of_atoms(BF16, (128, 64), 1, Swizzle.B128)).accepted
    assert not use.evaluate(tile_of_atoms(BF16, (32, 64), 1, Swizzle.B128)).accepted


def test_how_the_widths_of_instructions_differ():
    assert [arch.instruction_m for arch in Arch] == [(64,), (128, 64), (128, 64)]
    assert [arch.k_bytes for arch in Arch] == [(32,), (32,), (32, 48)]


def test_architectures_are_values():
    for arch in Arch:
        again = pickle.loads(pickle.dumps(arch))
        assert (again, hash(again)) == (arch, hash(arch))
        assert arch in Arch and ARCHS[str(arch)] is arch
    assert len(set(Arch)) == len(Arch) == 3
