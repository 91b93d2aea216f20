"""The operands of lowered tcgen05 instructions: constants, folded from the IR."""

from dataclasses import dataclass

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module

#: The assumed start of dynamic shared memory, and rank of the CTA in its cluster.
SHARED, RANK = 0x400, 5

_ARITHMETIC = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.ori": lambda a, b: a | b,
    "arith.andi": lambda a, b: a & b,
    "arith.shli": lambda a, b: a << b,
    "arith.shrui": lambda a, b: a >> b,
    "llvm.ptrtoint": lambda a: a,
    "arith.trunci": lambda a: a,
}


@dataclass(frozen=True)
class EmittedMma:
    """A `tcgen05.mma`: its opcode and its three descriptors."""

    opcode: str
    a: int
    b: int
    instruction: int


@dataclass(frozen=True)
class Emitted:
    """The instructions of a kernel.

    Attributes:
        mmas: the `tcgen05.mma`, in order.
        copied: descriptors of the `tcgen05.cp` of scale factors, in order.
        masks: CTA masks of the commits in a CTA of rank RANK; None without a mask.
        columns: tensor memory columns of each allocation.
    """

    mmas: list[EmittedMma]
    copied: list[int]
    masks: list[int | None]
    columns: list[int]


def instructions_of(text, arch):
    """Return the instructions that a kernel is lowered to."""
    instructions = Emitted([], [], [], [])
    with ir.Context() as context:
        mlir_smem.register(context)
        lowered = mlir_smem.compile(text, arch=arch, emit="nvvm").located
        module = parse_module(lowered)
        for op in _walk(module.operation):
            operands = list(op.operands)
            if op.name.startswith("nvvm.tcgen05.mma"):
                a, b, instruction = (fold(value) for value in operands[1:4])
                instructions.mmas.append(EmittedMma(_opcode(op), a, b, instruction))
            elif op.name == "nvvm.tcgen05.cp":
                instructions.copied.append(fold(operands[1]))
            elif op.name == "nvvm.tcgen05.commit":
                instructions.masks.append(fold(operands[1]) if len(operands) > 1 else None)
            elif op.name == "nvvm.tcgen05.alloc":
                instructions.columns.append(fold(operands[1]))
    return instructions


def _walk(op):
    """Yield an op and the ops inside it, in order."""
    yield op
    for region in op.regions:
        for block in region:
            for inner in block.operations:
                yield from _walk(inner.operation)


def _opcode(op):
    """Return the instruction's name in PTX."""
    qualifiers = {
        name: str(op.attributes[name]).split("<")[1].rstrip(">")
        for name in ("kind", "ctaGroup", "blockScale")
        if name in op.attributes
    }
    scaled = f".block_scale.{qualifiers['blockScale']}" if "blockScale" in qualifiers else ""
    return f"tcgen05.mma.cta_group::{qualifiers['ctaGroup'][-1]}.kind::{qualifiers['kind']}{scaled}"


def fold(value):
    """Return the constant of a value in a CTA of rank RANK with shared memory at SHARED."""
    op = value.owner
    assert isinstance(op, ir.Operation | ir.OpView), "an argument"
    op = op.operation
    if op.name == "arith.constant":
        number = ir.IntegerAttr(op.attributes["value"])
        return number.value % (1 << number.type.width)
    if op.name == "llvm.mlir.addressof":
        return SHARED
    if op.name == "nvvm.read.ptx.sreg.cluster.ctarank":
        return RANK
    operands = [fold(operand) for operand in op.operands]
    if op.name == "llvm.inline_asm":
        assert ir.StringAttr(op.attributes["asm_string"]).value == ""
        return operands[0]
    if op.name == "llvm.getelementptr":
        assert str(op.attributes["elem_type"]) == "i8"
        (index,) = ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"])
        return operands[0] + index
    return _ARITHMETIC[op.name](*operands)
