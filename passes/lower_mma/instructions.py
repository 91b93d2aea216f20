"""`smem.wgmma` as a group of `nvvm.wgmma.mma_async`, and the wait for groups."""

from functools import lru_cache
from typing import Any

from ...dialect.bindings import ir
from ...dialect.types import is_in_flight
from ...layout import element
from ...layout.instruction import INSTRUCTION_M
from .. import emit
from .registers import Registers, extract, insert


class Constants:
    """The 64-bit constants of a function, each made once at its entry."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, int], Any] = {}

    def get(self, function: Any, number: int) -> Any:
        """The constant, visible in the whole function."""
        key = (function, number)
        if key not in self._made:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                self._made[key] = emit.constant(number, emit.i64())
        return self._made[key]


def lower_wgmma(op: Any, registers: Registers, function: Any, constants: Constants) -> Any:
    """Emits the instructions of one mma between a fence and a commit.

    The fence orders the registers before the first instruction (PTX ISA 9.7.15.7.1); instructions
    that share an accumulator follow each other without one.

    Returns:
        The fragment's registers, in flight.
    """
    operands = list(op.operands)
    a_steps, b_steps = list(op.attributes["a_steps"]), list(op.attributes["b_steps"])
    row_blocks = len({row for row, _, _ in registers.blocks})
    columns = len(registers.blocks) // row_blocks
    k_blocks = len(a_steps) // row_blocks
    kind = element(ir.StringAttr(op.attributes["element"]).value)
    majors = tuple(ir.StringAttr(op.attributes[name]).value for name in ("a_major", "b_major"))

    emit.op("nvvm.wgmma.fence.aligned")
    parts = [
        registers.block(operands[2], i)
        if len(operands) == 3
        else emit.value("llvm.mlir.poison", (), registers.block_type(i))
        for i in range(len(registers.blocks))
    ]
    a = [_stepped(operands[0], step, function, constants) for step in a_steps]
    b = [_stepped(operands[1], step, function, constants) for step in b_steps]
    for k in range(k_blocks):
        accumulate = k > 0 or len(operands) == 3
        for i, (_, _, n) in enumerate(registers.blocks):
            row, column = divmod(i, columns)
            parts[i] = ir.Operation.create(
                "nvvm.wgmma.mma_async",
                results=[parts[i].type],
                operands=[parts[i], a[row * k_blocks + k], b[column * k_blocks + k]],
                attributes=_attributes(
                    ir.Context.current, kind.name, n, kind.instruction_k, majors, accumulate
                ),
            ).result
    emit.op("nvvm.wgmma.commit.group.sync.aligned")
    return registers.join(parts)


def _stepped(descriptor: Any, step: int, function: Any, constants: Constants) -> Any:
    """A block's descriptor: one add, and none for the first block."""
    if step == 0:
        return descriptor
    i64 = descriptor.type
    return ir.Operation.create(
        "arith.addi", results=[i64], operands=[descriptor, constants.get(function, step)]
    ).result


@lru_cache(maxsize=256)
def _attributes(
    context: Any, kind: str, n: int, k: int, majors: tuple[str, ...], accumulate: bool
) -> dict[str, Any]:
    def parse(text: str) -> Any:
        return ir.Attribute.parse(f"#nvvm.{text}", context)

    # Upstream transposes A where its layout is `col` and B where its layout is `row`.
    return {
        "shape": parse(f"shape<m = {INSTRUCTION_M}, n = {n}, k = {k}>"),
        "typeA": parse(f"wgmma_type<{kind}>"),
        "typeB": parse(f"wgmma_type<{kind}>"),
        "typeD": parse("wgmma_type<f32>"),
        "scaleD": parse(f"wgmma_scale_out<{'one' if accumulate else 'zero'}>"),
        "scaleA": parse("wgmma_scale_in<one>"),
        "scaleB": parse("wgmma_scale_in<one>"),
        "layoutA": parse(f"mma_layout<{'row' if majors[0] == 'k' else 'col'}>"),
        "layoutB": parse(f"mma_layout<{'col' if majors[1] == 'k' else 'row'}>"),
    }


def lower_wait(op: Any, registers: Registers, result_type: Any) -> Any:
    """Emits `wgmma.wait_group`.

    Where the result is readable, the registers pass through the instruction's inline assembly, so
    that LLVM cannot move a read of them before it; the intrinsic would not tie them.

    Returns:
        The fragment's registers after the wait.
    """
    pending = ir.IntegerAttr(op.attributes["pending"]).value
    fragment = op.operands[0]
    if is_in_flight(result_type):
        emit.op(
            "nvvm.wgmma.wait.group.sync.aligned",
            group=ir.IntegerAttr.get(emit.i64(), pending),
        )
        return fragment
    scalars = [value for _, values in registers.scalars(fragment) for value in values]
    count = len(scalars)
    outputs = ",".join(["=f"] * count)
    inputs = ",".join(str(i) for i in range(count))
    struct = ir.Type.parse(f"!llvm.struct<({', '.join(['f32'] * count)})>")
    passed = emit.value(
        "llvm.inline_asm",
        scalars,
        struct,
        asm_string=ir.StringAttr.get(f"wgmma.wait_group.sync.aligned {pending};"),
        constraints=ir.StringAttr.get(f"{outputs},{inputs},~{{memory}}"),
        has_side_effects=ir.UnitAttr.get(),
    )
    if len(registers.blocks) == 1:
        return passed
    f32, parts, at = ir.F32Type.get(), [], 0
    for position, (_, _, n) in enumerate(registers.blocks):
        part = emit.value("llvm.mlir.poison", (), registers.block_type(position))
        for i in range(n // 2):
            part = insert(part, extract(passed, at + i, f32), i)
        at += n // 2
        parts.append(part)
    return registers.join(parts)
