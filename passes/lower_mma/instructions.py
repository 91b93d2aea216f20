"""`smem.wgmma` as a group of `nvvm.wgmma.mma_async`, and the wait for groups."""

from dataclasses import dataclass
from typing import Any

from ...dialect.bindings import ir
from ...dialect.caching import cached_in_context
from ...dialect.ops.bases import bases_of
from ...dialect.ops.mma import MODIFIERS
from ...dialect.types import is_in_flight
from ...layout import Accumulator, Element, element
from ...layout.elements import B1
from ...layout.instruction import INSTRUCTION_M
from .. import emit
from .registers import Registers, extract


class Steps:
    """Descriptors of instruction blocks: one add each, shared by the mma of a block of ops."""

    def __init__(self) -> None:
        self._constants: dict[tuple[Any, int], Any] = {}
        self._stepped: dict[tuple[Any, Any, int], Any] = {}

    def of_blocks(self, op: Any, operand: str, function: Any) -> list[Any]:
        """The descriptor of each block of operand "a" or "b" of an `smem.wgmma`."""
        value, bases = op.operands["ab".index(operand)], bases_of(op, operand)
        steps = list(op.attributes[f"{operand}_steps"])
        if bases is None:
            return [self.get(value, step, op, function) for step in steps]
        elements = _elements(value)
        op.operands["ab".index(operand)] = elements[0]
        if not list(value.uses):
            value.owner.operation.erase()
        return [
            self.get(elements[base], step, op, function)
            for base, step in zip(bases, steps, strict=True)
        ]

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


def _elements(vector: Any) -> list[Any]:
    """The elements of a vector of descriptors: those that it was made from, if it was."""
    owner = vector.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "vector.from_elements":
        return list(owner.operation.operands)
    return [
        emit.value(
            "vector.extract", (vector,), emit.i64(), static_position=ir.DenseI64ArrayAttr.get([i])
        )
        for i in range(vector.type.shape[0])
    ]


def lower_wgmma(op: Any, registers: Registers, function: Any, steps: Steps) -> Any:
    """Emits the instructions of one mma between a fence and a commit.

    The fence orders the registers before the first instruction (PTX ISA 9.7.15.7.1); instructions
    that share an accumulator follow each other without one.

    Returns:
        The fragment's registers, in flight.
    """
    operands = list(op.operands)
    row_blocks = len({row for row, _, _ in registers.blocks})
    columns = len(registers.blocks) // row_blocks
    k_blocks = len(op.attributes["a_steps"]) // row_blocks
    form = _form(op, registers)

    emit.op("nvvm.wgmma.fence.aligned")
    if len(operands) == 3:
        parts = registers.split(operands[2])
    else:
        blocks = range(len(registers.blocks))
        parts = [emit.value("llvm.mlir.poison", (), registers.block_type(i)) for i in blocks]
    a, b = (steps.of_blocks(op, operand, function) for operand in "ab")
    for k in range(k_blocks):
        accumulate = k > 0 or len(operands) == 3
        for i, (_, _, n) in enumerate(registers.blocks):
            row, column = divmod(i, columns)
            operands = (parts[i], a[row * k_blocks + k], b[column * k_blocks + k])
            if form.a is B1:
                parts[i] = _count_bits(n, accumulate, *operands)
                continue
            parts[i] = ir.Operation.create(
                "nvvm.wgmma.mma_async",
                results=[parts[i].type],
                operands=operands,
                attributes=_attributes(ir.Context.current, form, n, accumulate),
            ).result
    emit.op("nvvm.wgmma.commit.group.sync.aligned")
    return registers.join(parts)


@dataclass(frozen=True)
class Form:
    """What all instructions of an mma have in common.

    Attributes:
        a, b: the element types.
        a_major, b_major: "k" or "mn".
        accumulator: the type that products are added in.
        modifiers: those of `smem.mma` that are set.
    """

    a: Element
    b: Element
    a_major: str
    b_major: str
    accumulator: Accumulator
    modifiers: tuple[str, ...]


def _form(op: Any, registers: Registers) -> Form:
    said = [
        ir.StringAttr(op.attributes[name]).value
        for name in ("a_element", "b_element", "a_major", "b_major")
    ]
    modifiers = tuple(name for name in MODIFIERS if name in op.attributes)
    return Form(
        element(said[0]), element(said[1]), said[2], said[3], registers.accumulator, modifiers
    )


@cached_in_context
def _attributes(context: Any, form: Form, n: int, accumulate: bool) -> dict[str, Any]:
    def parse(text: str) -> Any:
        return ir.Attribute.parse(f"#nvvm.{text}", context)

    def sign(modifier: str) -> str:
        return "neg" if modifier in form.modifiers else "one"

    # Upstream transposes A where its layout is `col` and B where its layout is `row`.
    attributes = {
        "shape": parse(f"shape<m = {INSTRUCTION_M}, n = {n}, k = {form.a.instruction_k}>"),
        "typeA": parse(f"wgmma_type<{form.a}>"),
        "typeB": parse(f"wgmma_type<{form.b}>"),
        "typeD": parse(f"wgmma_type<{form.accumulator}>"),
        "scaleD": parse(f"wgmma_scale_out<{'one' if accumulate else 'zero'}>"),
        "scaleA": parse(f"wgmma_scale_in<{sign('negate_a')}>"),
        "scaleB": parse(f"wgmma_scale_in<{sign('negate_b')}>"),
        "layoutA": parse(f"mma_layout<{'row' if form.a_major == 'k' else 'col'}>"),
        "layoutB": parse(f"mma_layout<{'col' if form.b_major == 'k' else 'row'}>"),
    }
    if "satfinite" in form.modifiers:
        attributes["satfinite"] = parse("mma_int_overflow<satfinite>")
    return attributes


def _count_bits(n: int, accumulate: bool, accumulator: Any, a: Any, b: Any) -> Any:
    """`wgmma` of b1 in assembly: upstream's op leaves `.and.popc` out, which ptxas refuses."""
    count = n // 2
    scalars = [extract(accumulator, i, emit.i32()) for i in range(count)]
    registers = ", ".join(f"${i}" for i in range(count))
    text = (
        f"{{\n.reg .pred p;\nsetp.ne.b32 p, {int(accumulate)}, 0;\n"
        f"wgmma.mma_async.sync.aligned.m{INSTRUCTION_M}n{n}k{B1.instruction_k}.s32.b1.b1.and.popc "
        f"{{{registers}}}, ${2 * count}, ${2 * count + 1}, p;\n}}"
    )
    outputs, tied = ",".join(["=r"] * count), ",".join(map(str, range(count)))
    return emit.value(
        "llvm.inline_asm",
        (*scalars, a, b),
        accumulator.type,
        asm_string=ir.StringAttr.get(text),
        constraints=ir.StringAttr.get(f"{outputs},{tied},l,l"),
        has_side_effects=ir.UnitAttr.get(),
    )


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
        output = "=f" if registers.register == "f32" else "=r"
        outputs, inputs = ",".join([output] * count), ",".join(map(str, range(count)))
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
