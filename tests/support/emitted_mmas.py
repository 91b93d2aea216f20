"""What lowered instructions of tcgen05 are given: constants, folded from the IR."""

from dataclasses import dataclass

import mlir_smem
from mlir_smem.dialect.bindings import ir

#: Where dynamic shared memory is taken to begin, and the block's rank in its cluster.
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
class Multiplied:
    """An instruction: what its text says of it, and its three descriptors."""

    opcode: str
    a: int
    b: int
    instruction: int


@dataclass(frozen=True)
class Emitted:
    """The instructions of a kernel.

    Attributes:
        multiplied: those that multiply, in order.
        copied: descriptors of blocks of scale factors that are copied to tensor memory, in order.
        masks: of the commits, in a block of rank RANK; None without.
        columns: of tensor memory, that are allocated.
    """

    multiplied: list[Multiplied]
    copied: list[int]
    masks: list[int | None]
    columns: list[int]


def emitted(text, arch):
    """The instructions that a kernel is lowered to."""
    found = Emitted([], [], [], [])
    with ir.Context() as context:
        mlir_smem.register(context)
        lowered = mlir_smem.compile(text, arch=arch, emit="nvvm").located
        module = ir.Module.parse(lowered)
        for op in _each(module.operation):
            given = list(op.operands)
            if op.name.startswith("nvvm.tcgen05.mma"):
                a, b, instruction = (folded(value) for value in given[1:4])
                found.multiplied.append(Multiplied(_opcode(op), a, b, instruction))
            elif op.name == "nvvm.tcgen05.cp":
                found.copied.append(folded(given[1]))
            elif op.name == "nvvm.tcgen05.commit":
                found.masks.append(folded(given[1]) if len(given) > 1 else None)
            elif op.name == "nvvm.tcgen05.alloc":
                found.columns.append(folded(given[1]))
    return found


def _each(op):
    """An op and all in it, in order."""
    yield op
    for region in op.regions:
        for block in region:
            for inner in block.operations:
                yield from _each(inner.operation)


def _opcode(op):
    """The instruction's name in PTX."""
    said = {
        name: str(op.attributes[name]).split("<")[1].rstrip(">")
        for name in ("kind", "ctaGroup", "blockScale")
        if name in op.attributes
    }
    scaled = f".block_scale.{said['blockScale']}" if "blockScale" in said else ""
    return f"tcgen05.mma.cta_group::{said['ctaGroup'][-1]}.kind::{said['kind']}{scaled}"


def folded(value):
    """The number that a value is in a block of rank RANK, whose shared memory begins at SHARED."""
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
    given = [folded(each) for each in op.operands]
    if op.name == "llvm.inline_asm":
        assert ir.StringAttr(op.attributes["asm_string"]).value == ""
        return given[0]
    if op.name == "llvm.getelementptr":
        assert str(op.attributes["elem_type"]) == "i8"
        (index,) = ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"])
        return given[0] + index
    return _ARITHMETIC[op.name](*given)
