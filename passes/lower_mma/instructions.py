"""`smem.wgmma` as a group of `nvvm.wgmma.mma_async`, and the wait for groups."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.caching import cached_in_context
from ...dialect.types import is_in_flight
from ...layout import element
from ...layout.instruction import INSTRUCTION_M
from .. import emit
from .registers import Registers


class Steps:
    """Descriptors of instruction blocks: one add each, shared by the mma of a block of ops."""

    def __init__(self) -> None:
        self._constants: dict[tuple[Any, int], Any] = {}
        self._stepped: dict[tuple[Any, Any, int], Any] = {}

    def get(self, descriptor: Any, step: int, user: Any, function: Any) -> Any:
        """`descriptor + step` for an op `user`; the descriptor itself for the first block."""
        if step == 0:
            return descriptor
        key = (descriptor, user.operation.block, step)
        if key not in self._stepped:
            self._stepped[key] = ir.Operation.create(
                "arith.addi",
                results=[descriptor.type],
                operands=[descriptor, self._constant(function, step)],
            ).result
        return self._stepped[key]

    def _constant(self, function: Any, number: int) -> Any:
        """A constant at the function's entry, made once."""
        key = (function, number)
        if key not in self._constants:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                self._constants[key] = emit.constant(number, emit.i64())
        return self._constants[key]


def lower_wgmma(op: Any, registers: Registers, function: Any, steps: Steps) -> Any:
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
    if len(operands) == 3:
        parts = registers.split(operands[2])
    else:
        blocks = range(len(registers.blocks))
        parts = [emit.value("llvm.mlir.poison", (), registers.block_type(i)) for i in blocks]
    a = [steps.get(operands[0], step, op, function) for step in a_steps]
    b = [steps.get(operands[1], step, op, function) for step in b_steps]
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


@cached_in_context
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

    Where the result is readable, the registers pass through the inline assembly of the instruction,
    so that LLVM cannot move a read of them before it; the intrinsic would not tie them. Further
    blocks pass through empty assembly behind it: LLVM keeps the order of assembly with side effects.

    Returns:
        The fragment's registers after the wait.
    """
    pending = ir.IntegerAttr(op.attributes["pending"]).value
    fragment = op.operands[0]
    if is_in_flight(result_type):
        group = ir.IntegerAttr.get(emit.i64(), pending)
        emit.op("nvvm.wgmma.wait.group.sync.aligned", group=group)
        return fragment
    instruction = f"wgmma.wait_group.sync.aligned {pending};"
    passed = []
    for position, scalars in registers.scalars(fragment):
        count = len(scalars)
        outputs, inputs = ",".join(["=f"] * count), ",".join(map(str, range(count)))
        tied = emit.value(
            "llvm.inline_asm",
            scalars,
            registers.block_type(position),
            asm_string=ir.StringAttr.get("" if passed else instruction),
            constraints=ir.StringAttr.get(f"{outputs},{inputs},~{{memory}}"),
            has_side_effects=ir.UnitAttr.get(),
        )
        passed.append(tied)
    return registers.join(passed)
