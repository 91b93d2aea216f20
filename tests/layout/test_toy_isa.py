"""A third instruction set is a class and a row of `Arch`; nothing else has to be changed."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from mlir_smem.layout import (
    ARCHS,
    FORMS,
    Arch,
    Descriptor,
    LayoutError,
    Major,
    Mismatch,
    MmaInstruction,
    MmaIsa,
    Role,
    Swizzle,
    accumulators,
    choose,
    element,
    operand_problem,
    partners,
    tile_of_atoms,
)
from mlir_smem.layout.accumulators import ACC_F32
from mlir_smem.layout.instruction import widest_first
from mlir_smem.layout.operand import addresses, mma_tiles_of
from mlir_smem.layout.text_error import TextError

BF16, B1, E2M1 = element("bf16"), element("b1"), element("e2m1")


@dataclass(frozen=True)
class ToyDescriptor(Descriptor):
    """A descriptor with another field of the swizzling mode, and a version."""

    reader: ClassVar[str] = "toy"
    mode: ClassVar = (60, 4)
    modes: ClassVar = {Swizzle.B64: 9, Swizzle.B32: 5}
    fixed: ClassVar = {(53, 2): 3}


@dataclass(frozen=True)
class ToyInstruction(MmaInstruction):
    """m32nNk32 of 16-bit types: N is a multiple of 24."""

    name: ClassVar[str] = "toy"

    @property
    def k_bytes(self):
        return 64

    @property
    def legal_m(self):
        return (32,)

    def legal_n(self, b, major=Major.K):
        return (24, 48)

    def mma_tiles(self, tile, role, rows=None):
        extent = role.orient(tile).shape[0]
        legal = self.legal_m if role is Role.A else self.legal_n(tile.element)
        pieces = widest_first((rows,) if rows else legal, extent)
        if pieces is None:
            return Mismatch(f"{role.extent_name} is {extent}; expected a multiple of {legal[0]}")
        return mma_tiles_of(tile, role, pieces, ToyDescriptor, self.k_bytes)

    def check_types(self, a, b):
        if {a, b} != {BF16}:
            raise LayoutError(f"toy does not multiply {a} by {b}")

    def check_mn(self, role, element, extent):
        legal = self.legal_m if role is Role.A else self.legal_n(element)
        if widest_first(legal, extent) is None:
            raise LayoutError(f"{role.name}: expected a multiple of {legal[0]}")


@dataclass(frozen=True)
class Toy(MmaIsa):
    """An instruction set that reads bf16 in two swizzles, that of 64 bytes K-major only."""

    name: ClassVar[str] = "toy"
    descriptor: ClassVar = ToyDescriptor
    swizzles: ClassVar = (Swizzle.B64, Swizzle.B32)
    forms: ClassVar = {key: form for key, form in FORMS.items() if key[1] in ToyDescriptor.modes}
    instruction_m: ClassVar = (32,)

    @property
    def k_bytes(self):
        return (64,)

    @property
    def elements(self):
        return (BF16,)

    def accumulators(self, a, b, scaled=False):
        return (ACC_F32,) if (a, b, scaled) == (BF16, BF16, False) else ()

    def swizzles_of(self, element, major):
        return (Swizzle.B64, Swizzle.B32) if major is Major.K else (Swizzle.B32,)

    def addresses(self, descriptor, element, major, rows, k_bytes):
        toy_descriptor = ToyDescriptor.decode(descriptor)
        return addresses(toy_descriptor, element, major, rows, k_bytes * 8 // element.bits)

    def instruction(self, a, b, sparse=False, ctas=1):
        return ToyInstruction()


@pytest.fixture
def toy():
    arch = Arch.register(Arch("sm_7", Toy()))
    yield arch
    Arch.unregister(arch)


def test_it_is_a_row_of_the_table(toy):
    assert list(Arch) == [Arch.SM_90, Arch.SM_100, Arch.SM_103, toy]
    assert Arch.parse("sm_7a") is ARCHS["sm_7"] is toy
    assert toy in Arch and len(Arch) == 4
    assert toy.instructions == "toy"


def test_it_leaves_the_table():
    arch = Arch("sm_7", Toy())
    assert Arch.register(arch) is arch
    with pytest.raises(ValueError, match="there is an architecture sm_7 already"):
        Arch.register(Arch("sm_7", Toy()))
    Arch.unregister(arch)
    assert arch not in Arch
    with pytest.raises(TextError, match="expected one of sm_90, sm_100, sm_103"):
        Arch.parse("sm_7")
    with pytest.raises(KeyError):
        Arch.unregister(arch)


@pytest.mark.parametrize(
    "shape, role, picked",
    [
        ((64, 64), Role.A, "Swizzle<2,4,3> o (64,(32,2)):(32,(1,2048))"),
        ((64, 48), Role.A, None),
        ((48, 64), Role.A, None),
        # Rows are contiguous: N-major.
        ((64, 72), Role.B, None),
        ((32, 48), Role.B, "Swizzle<1,4,3> o (32,(16,3)):(16,(1,512))"),
    ],
)
def test_layouts_are_chosen_for_it(toy, shape, role, picked):
    use = toy.use("the operand", role, BF16)
    choice = choose(BF16, shape, [use], contiguous=1, swizzles=toy.swizzles)
    assert (choice.picked and str(choice.picked.layout)) == picked


def test_mma_tiles_and_descriptors(toy):
    tile = tile_of_atoms(BF16, (64, 64), 1, Swizzle.B64)
    tiles = toy.mma_tiles(tile, Role.A)
    assert tiles.pieces == (32, 32)
    assert tiles.steps == ((0, 256), (128, 384))
    # start 0x400, LBO 16, SBO 512; the version in bits 53-54, the mode in bits 60-63.
    bits = tiles.descriptor(0x400).encode()
    assert bits == 9 << 60 | 3 << 53 | 32 << 32 | 1 << 16 | 0x40
    assert ToyDescriptor.decode(bits) == tiles.descriptor(0x400)


def test_addresses_are_those_of_the_tile(toy):
    tile = tile_of_atoms(BF16, (64, 64), 1, Swizzle.B64)
    tiles = toy.mma_tiles(tile, Role.A)
    for m in range(2):
        for k in range(2):
            d = tiles.descriptor(0x400 + 16 * tiles.steps[m][k])
            read = toy.addresses(d.encode(), BF16, Major.K, 32, 64)
            subtile = tile.offsets()[32 * m : 32 * m + 32, 32 * k : 32 * k + 32]
            assert np.array_equal(read, 0x400 + subtile)


def test_what_it_refuses(toy):
    other = tile_of_atoms(E2M1, (64, 256), 1, Swizzle.B64)
    assert toy.mma_tiles(other, Role.A) == Mismatch("e2m1 is not an A or B element type of toy")
    tile = tile_of_atoms(BF16, (64, 64), 1, Swizzle.B64)
    assert (
        toy.mma_tiles(tile, Role.A, sparse=True).reason == "no sparse operands are lowered for sm_7"
    )
    assert toy.mma_tiles(tile, Role.A, ctas=2).reason == "toy has no instructions of 2 CTAs"
    with pytest.raises(ValueError, match="K is 32 bytes, but sm_7 reads 64 of each row"):
        toy.addresses(0, BF16, Major.K, 32)
    with pytest.raises(LayoutError, match="A: K is 48; toy takes 32 elements of bf16 at a time"):
        toy.isa.instruction(BF16, BF16).check_extents(Role.A, BF16, (64, 48))


def test_other_architectures_name_it(toy):
    assert toy.refusal(BF16, BF16) is None
    assert toy.refusal(B1, B1).endswith("which toy does not; wgmma (sm_90) does")
    assert Arch.SM_100.refusal(BF16, BF16, sparse=True).startswith(
        "multiplies a sparse A, which is lowered for wgmma (sm_90) only"
    )
    assert accumulators(BF16, BF16) == (ACC_F32,)
    assert partners(BF16) == (BF16,)


def test_a_tile_that_only_the_new_set_reads(toy):
    tile = tile_of_atoms(BF16, (32, 64), 1, Swizzle.B64)
    assert operand_problem(tile, Role.A, False, 1) is None
    Arch.unregister(toy)
    assert operand_problem(tile, Role.A, False, 1).startswith("M is 32, not a multiple of 64")
    Arch.register(toy)
