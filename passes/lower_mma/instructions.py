"""`smem.wgmma` as a group of `nvvm.wgmma.mma_async`, and the wait for groups."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.caching import cached_in_context
from ...dialect.ops.bases import bases_of
from ...dialect.ops.mma import Extras, extras_of
from ...dialect.types import is_in_flight
from ...layout.elements import B1
from ...layout.fragments import MULTIPLICAND_REGISTERS
from ...layout.instruction import INSTRUCTION_M
from .. import emit
from .assembly import fence_registers, multiply
from .form import Form, form_of
from .metadata import Metadata
from .registers import Registers, words_of


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


def lower_wgmma(op: Any, registers: Registers, a_words: int, function: Any, steps: Steps) -> Any:
    """Emits the instructions of one mma between a fence and a commit.

    The fence orders the registers before the first instruction (PTX ISA 9.7.15.7.1); instructions
    that share an accumulator follow each other without one.

    Args:
        op: the `smem.wgmma`.
        registers: the result's registers.
        a_words: registers of a thread that hold A; 0 if it is in shared memory.
        function: the function around it.
        steps: the descriptors made so far.

    Returns:
        The fragment's registers, in flight.
    """
    form, extras = form_of(op, registers.accumulator), extras_of(op)
    row_blocks = len({row for row, _, _ in registers.blocks})
    columns = len(registers.blocks) // row_blocks
    k_blocks = len(op.attributes["b_steps"]) // columns
    a_registers: list[Any] = []
    if a_words:
        a_registers = fence_registers(words_of(op.operands[0], a_words))
    else:
        emit.op("nvvm.wgmma.fence.aligned")
    accumulator, keep = _scaled(extras.accumulator)
    if accumulator is not None:
        parts = registers.split(accumulator)
    else:
        blocks = range(len(registers.blocks))
        parts = [emit.value("llvm.mlir.poison", (), registers.block_type(i)) for i in blocks]
    if a_words:
        count = MULTIPLICAND_REGISTERS
        a = [tuple(a_registers[i : i + count]) for i in range(0, a_words, count)]
    else:
        a = [(descriptor,) for descriptor in steps.of_blocks(op, "a", function)]
    b = steps.of_blocks(op, "b", function)
    scale = None if keep is None else emit.value("arith.extui", (keep,), emit.i32())
    metadata = Metadata(extras.metadata, form.a, row_blocks, k_blocks)
    for k in range(k_blocks):
        # Only the first products along K meet what the accumulator held before.
        adds: Any = bool(k) or accumulator is not None
        for i, (_, _, n) in enumerate(registers.blocks):
            row, column = divmod(i, columns)
            first, second = a[row * k_blocks + k], b[column * k_blocks + k]
            adds_here = scale if scale is not None and k == 0 else adds
            if _is_upstreams(form, a_words, extras) and not isinstance(adds_here, ir.Value):
                parts[i] = ir.Operation.create(
                    "nvvm.wgmma.mma_async",
                    results=[parts[i].type],
                    operands=[parts[i], *first, second],
                    attributes=_attributes(ir.Context.current, form, n, adds_here),
                ).result
                continue
            kept = metadata.of(row, k)
            parts[i] = multiply(form, n, adds_here, parts[i], first, second, kept)
    emit.op("nvvm.wgmma.commit.group.sync.aligned")
    return registers.join(parts)


def _scaled(accumulator: Any) -> tuple[Any, Any]:
    """The accumulator, and the condition under which it counts (i1) if it has one."""
    made = None if accumulator is None else accumulator.owner
    if made is None or isinstance(made, ir.Block) or made.operation.name != "smem.scale_d":
        return accumulator, None
    source, keep = made.operands
    return source, keep


def _is_upstreams(form: Form, a_words: int, extras: Extras) -> bool:
    """Whether upstream's op can say the instruction; see `assembly`."""
    return not a_words and extras.metadata is None and form.a is not B1


@cached_in_context
def _attributes(context: Any, form: Form, n: int, accumulate: bool) -> dict[str, Any]:
    def parse(text: str) -> Any:
        return ir.Attribute.parse(f"#nvvm.{text}", context)

    def sign(role: str) -> str:
        return "neg" if form.sign(role) < 0 else "one"

    # Upstream transposes A where its layout is `col` and B where its layout is `row`.
    attributes = {
        "shape": parse(f"shape<m = {INSTRUCTION_M}, n = {n}, k = {form.a.instruction_k}>"),
        "typeA": parse(f"wgmma_type<{form.a}>"),
        "typeB": parse(f"wgmma_type<{form.b}>"),
        "typeD": parse(f"wgmma_type<{form.accumulator}>"),
        "scaleD": parse(f"wgmma_scale_out<{'one' if accumulate else 'zero'}>"),
        "scaleA": parse(f"wgmma_scale_in<{sign('a')}>"),
        "scaleB": parse(f"wgmma_scale_in<{sign('b')}>"),
        "layoutA": parse(f"mma_layout<{'row' if form.a_major == 'k' else 'col'}>"),
        "layoutB": parse(f"mma_layout<{'col' if form.b_major == 'k' else 'row'}>"),
    }
    if "satfinite" in form.modifiers:
        attributes["satfinite"] = parse("mma_int_overflow<satfinite>")
    return attributes


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
