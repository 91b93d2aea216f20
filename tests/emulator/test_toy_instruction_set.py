"""A third instruction set, `toy`, from tiles to a matrix product, without an edit elsewhere.

It is `wgmma` with its own descriptor, in which LBO and SBO are exchanged. Its code is what would be in
one folder of `layout/`, of `passes/lower_mma/` and of `emulator/` each.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from emulated import run_text
from ml_dtypes import bfloat16
from programs import fragment, kernel, matrix, module, tile

from mlir_smem.bindings import ir, passmanager
from mlir_smem.dialect import new_context
from mlir_smem.dialect.ops import MmaDescOp, WaitOp
from mlir_smem.emulator import registry
from mlir_smem.emulator.ops.inline_ptx import join_registers, operands_of, overwritten_registers
from mlir_smem.emulator.tensor_core.multiplicands import MULTIPLICANDS
from mlir_smem.emulator.wgmma.mma import MmaQualifiers, execute
from mlir_smem.ir import emit
from mlir_smem.ir.kernel import function_of
from mlir_smem.ir.launch_attributes import SHARED_BYTES
from mlir_smem.ir.lowerings import Lowerings
from mlir_smem.layout import Arch, Descriptor, Swizzle
from mlir_smem.layout.operand import mma_tiles_of
from mlir_smem.layout.wgmma import Wgmma, WgmmaDescriptor, WgmmaInstruction
from mlir_smem.passes import add_passes
from mlir_smem.passes.lower_mma import target as targets
from mlir_smem.passes.lower_mma.registers import extract
from mlir_smem.passes.lower_mma.target import MmaTarget
from mlir_smem.passes.lower_mma.wgmma import lower_wait

M, N, K = 128, 64, 128

# layout/toy/


@dataclass(frozen=True)
class ToyDescriptor(Descriptor):
    """LBO at bit 32, SBO at bit 16, and another number for each swizzle."""

    reader: ClassVar[str] = "toy"
    mode: ClassVar[tuple[int, int]] = (60, 2)
    modes: ClassVar[dict[Swizzle, int]] = {
        swizzle: 3 - code for swizzle, code in WgmmaDescriptor.modes.items()
    }

    def encode(self) -> int:
        return _exchange_fields(super().encode())


def _exchange_fields(bits):
    """Exchange the fields of 14 bits at bits 16 and 32, of an integer or of an array."""
    low, high = bits >> 16 & 0x3FFF, bits >> 32 & 0x3FFF
    return bits ^ (low << 16 | high << 32) ^ (high << 16 | low << 32)


@dataclass(frozen=True)
class ToyInstruction(WgmmaInstruction):
    """m64n64k16."""

    name: ClassVar[str] = "toy"

    def mma_tiles(self, tile, role, rows=None):
        extent = role.orient(tile).shape[0]
        return mma_tiles_of(tile, role, (64,) * (extent // 64), ToyDescriptor)


@dataclass(frozen=True)
class Toy(Wgmma):
    """Reads what `wgmma` reads."""

    name: ClassVar[str] = "toy"
    descriptor: ClassVar[type[Descriptor]] = ToyDescriptor
    has_sparse: ClassVar[bool] = False

    def instruction(self, a, b, sparse=False, ctas=1):
        return ToyInstruction()


# passes/lower_mma/toy/

LOWERINGS = Lowerings()


def define_target():
    """Register the instruction set for `smem-lower-mma`."""

    class ToyTarget(MmaTarget):
        isa = "toy"
        lowerings = LOWERINGS

    return ToyTarget


@LOWERINGS.of(MmaDescOp)
def lower_mma(typed, target):
    op, registers = typed.op, target.registers(typed.result)
    function = function_of(op)
    a = target.descriptors.of_a(op, registers, function)
    b = target.descriptors.of_mma_tiles(op, "b", function)
    k_blocks = registers.k_blocks(op)
    emit.op("nvvm.wgmma.fence.aligned")
    tiles = []
    for i in range(len(registers.blocks)):
        row, column = divmod(i, registers.across)
        tile_of_d = emit.value("llvm.mlir.poison", (), registers.block_type(i))
        for k in range(k_blocks):
            tile_of_d = _instruction(
                tile_of_d, a[row * k_blocks + k], b[column * k_blocks + k], k > 0
            )
        tiles.append(tile_of_d)
    emit.op("nvvm.wgmma.commit.group.sync.aligned")
    return registers.join(tiles)


LOWERINGS.of(WaitOp)(lower_wait)


def _instruction(accumulator, a, b, adds):
    scalars = [extract(accumulator, i, ir.F32Type.get()) for i in range(32)]
    tied = ",".join(map(str, range(32)))
    return emit.value(
        "llvm.inline_asm",
        [*scalars, a, b],
        accumulator.type,
        asm_string=ir.StringAttr.get(f"toy.mma.{'add' if adds else 'set'} $64, $65;"),
        constraints=ir.StringAttr.get(f"{','.join(['=f'] * 32)},{tied},l,l"),
        has_side_effects=ir.UnitAttr.get(),
    )


# emulator/toy/


def toy_step(op, text):
    """The step of a `toy` instruction; None for other assembly."""
    match = re.fullmatch(r"toy\.mma\.(add|set) \$64, \$65;", text)
    if not match:
        return None
    operands = operands_of(op)
    op.collective = op.waits = True
    adds, bf16 = match[1] == "add", MULTIPLICANDS["bf16"]
    form = MmaQualifiers(64, bf16, bf16, np.dtype(np.float32), b_mn_major=True, accumulates=adds)

    def multiplies(convergent, passed, others):
        floats = np.dtype(np.float32)
        sums = (
            join_registers(convergent, passed)
            if adds
            else overwritten_registers(convergent, passed, floats)
        )
        a, b = (_as_wgmma(convergent.check_value(others[number])) for number in (64, 65))
        return execute(convergent, form, sums, a, b)

    return operands.step(multiplies)


def _as_wgmma(bits):
    """Return the `wgmma` descriptor of the same operand."""
    bits = _exchange_fields(bits.astype(np.uint64))
    mode = np.uint64(3) - (bits >> 60 & 3)
    return bits & ~np.uint64(0xF << 60) | mode << np.uint64(62)


# The test.


@pytest.fixture
def toy(monkeypatch):
    """The architecture, which is registered for the test."""
    registry.load_ops()
    monkeypatch.setattr(registry, "_ASSEMBLY", [*registry._ASSEMBLY, toy_step])
    monkeypatch.setattr(targets, "_TARGETS", dict(targets._TARGETS))
    define_target()
    arch = Arch.register(Arch("sm_7", Toy()))
    yield arch
    Arch.unregister(arch)


A, B, D = matrix(M, K), matrix(K, N), matrix(M, N, element="f32")
PRODUCT = f"""
    %a = "smem.alloc"() : () -> {tile(M, K)}
    %b = "smem.alloc"() : () -> {tile(K, N)}
    "smem.copy"(%A, %a) : ({A}, {tile(M, K)}) -> ()
    "smem.copy"(%B, %b) : ({B}, {tile(K, N)}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %flying = "smem.mma"(%a, %b) : ({tile(M, K)}, {tile(K, N)}) -> {fragment(M, N)}
    %ready = "smem.wait"(%flying) {{pending = 0 : i32}}
        : ({fragment(M, N)}) -> {fragment(M, N, "#smem.accumulator")}
    "smem.store"(%ready, %D) : ({fragment(M, N, "#smem.accumulator")}, {D}) -> ()
"""


def lower(arch):
    """Return the kernel lowered for an architecture, and its bytes of shared memory."""
    with new_context():
        text = module(kernel(PRODUCT, arguments=f"%A: {A}, %B: {B}, %D: {D}"))
        parsed = ir.Module.parse(text)
        pm = passmanager.PassManager("builtin.module")
        add_passes(pm, "smem-to-nvvm", arch=arch).run(parsed.operation)
        match = re.search(rf"{SHARED_BYTES} = (\d+)", str(parsed))
        return str(parsed), int(match[1])


def test_toy_product_is_right(toy):
    text, shared = lower(toy)
    assert text.count("toy.mma.set") == 2 and "wgmma.mma_async" not in text
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(shape).astype(bfloat16) for shape in ((M, K), (K, N)))
    d = np.full((M, N), np.nan, np.float32)
    run_text(text, "product", [a, b, d], block=128, shared=shared)
    assert np.allclose(d, a.astype(np.float32) @ b.astype(np.float32), atol=1e-3)


def test_toy_descriptors_are_not_those_of_wgmma(toy):
    constants = re.compile(r"arith\.constant (-?\d{10,}) : i64")
    ours, theirs = (set(constants.findall(lower(arch)[0])) for arch in (toy, Arch.SM_90))
    assert ours and theirs and not ours & theirs


def test_lowering_without_a_target_is_an_error(toy, monkeypatch):
    monkeypatch.delitem(targets._TARGETS, "toy")
    message = "smem-lower-mma: has no lowering to toy, which sm_7 has; there are tcgen05, wgmma"
    with pytest.raises(ir.MLIRError, match=message):
        lower(toy)


def test_types_that_toy_does_not_multiply_are_refused(toy):
    bf16 = toy.elements["bf16"]
    assert toy.refusal(bf16, bf16) is None
    assert toy.refusal(bf16, bf16, sparse=True) == (
        "multiplies a sparse A, which is lowered for wgmma (sm_90) only, not for sm_7"
    )
