"""The `wgmma` target: `smem.mma_desc` as a group of `nvvm.wgmma.mma_async`, and the wait for groups.

Inline assembly is for what upstream's op does not support: it takes descriptors only, so no A in
registers; its scale-d is a constant; it has no `.sp`; and it omits `.and.popc` from the instruction of
b1, which ptxas then rejects. `tests/codegen/test_upstream_wgmma.py` fails when upstream fixes one of
these.
"""

from collections.abc import Sequence

from ...bindings.irtypes import Attribute, Context, Op, Value
from ...bindings.mlir import ir
from ...dialect.caching import cached_in_context
from ...dialect.ops import FillOp, MmaDescOp, MmaDescSpOp, WaitOp
from ...dialect.types import FragmentType, is_in_flight
from ...ir import emit
from ...ir.kernel import ancestors_of, function_of
from ...ir.lowerings import Lowerings
from ...layout import Element
from ...layout.accumulators import ACC_F32
from ...layout.elements import B1
from ...layout.fragments import A_FRAGMENT_REGISTERS
from ...layout.instruction import instruction_k
from ...layout.wgmma import INSTRUCTION_M, MN_MAJOR, SPARSITY, metadata_words, selector
from .fragments.elementwise import lower_fill
from .registers import AccumulatorRegisters, extract, word_count, words_of
from .target import InstructionQualifiers, MmaTarget, TypedOp, qualifiers_of, split_scale_d

#: The ops that have their own lowering for `wgmma`; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class WgmmaTarget(MmaTarget):
    """`wgmma` keeps accumulators in registers."""

    isa = "wgmma"
    lowerings = LOWERINGS

    def record(self, ops: Sequence[TypedOp]) -> None:
        """Emit a wait before loops that read what they carry beside an mma that runs.

        The wait at the end of an iteration is not on the path into the loop, so ptxas 13.5 would wait at
        the read, and for the mma, too (C7517). Before the loop, none runs.
        """
        loops: dict[Op, None] = {}
        waits = [x.op for x in ops if isinstance(x.op, WaitOp) and not is_in_flight(x.result)]
        for use in (use for wait in waits for use in wait.result.uses):
            end, loop = use.owner.operation, use.owner.operation.parent.operation
            carries = end.name == "scf.yield" and loop.name == "scf.for"
            if carries and _reads_beside_mma(loop, use.operand_number) and not _follows_wait(loop):
                loops[loop] = None
        for loop in loops:
            with ir.InsertionPoint(loop), loop.location:
                _emit_wait(0)


def _follows_wait(loop: Op) -> bool:
    """Return whether a wait is on each path to a loop."""
    for around in (loop, *ancestors_of(loop)):
        for op in around.block.operations:
            if op.operation == around:
                break
            if isinstance(op.operation.opview, WaitOp):
                return True
    return False


def _reads_beside_mma(loop: Op, position: int) -> bool:
    """Return whether a loop reads an accumulator that it carries after an mma, and before a wait."""
    body = loop.regions[0].blocks[0]
    readers = {
        op
        for use in body.arguments[1 + position].uses
        for op in (use.owner.operation, *ancestors_of(use.owner))
        if op.block == body
    }
    has_mma = False
    for op in (op.operation for op in body.operations):
        if isinstance(op.opview, WaitOp):
            return False
        if op in readers:
            return has_mma
        has_mma = has_mma or isinstance(op.opview, MmaDescOp | MmaDescSpOp)
    return False


def _emit_wait(pending: int) -> None:
    group = ir.IntegerAttr.get(emit.i64(), pending)
    emit.op("nvvm.wgmma.wait.group.sync.aligned", group=group)


@LOWERINGS.of(MmaDescOp, MmaDescSpOp)
def lower_wgmma(typed: TypedOp, target: MmaTarget) -> Value:
    """Emit the instructions of one mma between a fence and a commit; return its registers, in flight.

    The fence orders the registers before the first instruction (PTX ISA 9.7.15.7.1); instructions
    that share an accumulator follow each other without one.
    """
    op, registers, descriptors = typed.op, target.registers(typed.result), target.descriptors
    a_type, function = typed.type_of("a"), function_of(op)
    a_words = word_count(a_type) if isinstance(a_type, FragmentType) else 0
    qualifiers = qualifiers_of(op, registers.accumulator)
    columns = registers.across
    row_blocks = len(registers.blocks) // columns
    k_blocks = registers.k_blocks(op)
    accumulator, keep = split_scale_d(op.accumulator)
    if accumulator is not None and not is_in_flight(typed.type_of("accumulator")):
        # An accumulator in flight was pinned by its fill, or written by an earlier mma.
        accumulator = _pin(accumulator, registers)
    words = _fence(op, a_words)
    structs = _structs(accumulator, registers)
    if words:
        count = A_FRAGMENT_REGISTERS
        a = [tuple(words[i : i + count]) for i in range(0, a_words, count)]
    else:
        a = [(descriptor,) for descriptor in descriptors.of_a(op, registers, function)]
    b = descriptors.of_mma_tiles(op, "b", function)
    scale_d = None if keep is None else emit.value("arith.extui", (keep,), emit.i32())
    metadata = _SparseMetadata(op.metadata, qualifiers.a, row_blocks, k_blocks)
    in_assembly = a_words > 0 or op.metadata is not None or qualifiers.a is B1
    attributes: dict[tuple[int, bool], dict[str, Attribute]] = {}
    for k in range(k_blocks):
        # Only the instructions of K block 0 depend on the value of the accumulator before the mma.
        adds = bool(k) or accumulator is not None
        condition = scale_d if k == 0 else None
        for i, (_, _, n) in enumerate(registers.blocks):
            row, column = divmod(i, columns)
            a_operand, b_operand = a[row * k_blocks + k], b[column * k_blocks + k]
            if in_assembly or condition is not None:
                scale_d = adds if condition is None else condition
                sparse_words = metadata.of(row, k)
                structs[i] = multiply(
                    qualifiers, n, scale_d, structs[i], a_operand, b_operand, sparse_words
                )
                continue
            if (n, adds) not in attributes:
                attributes[n, adds] = _attributes(ir.Context.current, qualifiers, n, adds)
            structs[i] = ir.Operation.create(
                "nvvm.wgmma.mma_async",
                results=[structs[i].type],
                operands=[structs[i], *a_operand, b_operand],
                attributes=attributes[n, adds],
            ).result
    emit.op("nvvm.wgmma.commit.group.sync.aligned")
    return registers.join(structs)


def _fence(op: Op, a_words: int) -> list[Value]:
    """Emit the fence; return the registers of A if it is in registers."""
    if a_words:
        return _fence_registers(words_of(op.a, a_words))
    emit.op("nvvm.wgmma.fence.aligned")
    return []


class _SparseMetadata:
    """The metadata of an mma; None for a dense A."""

    def __init__(self, fragment: Value, element: Element, row_blocks: int, k_blocks: int) -> None:
        self._element = element
        self._words = None
        if fragment is not None:
            self._per_row = metadata_words(element, k_blocks * instruction_k(element) * SPARSITY)
            self._words = words_of(fragment, row_blocks * self._per_row)

    def of(self, row: int, k: int) -> tuple[Value, int] | None:
        """Return the register and the sparsity selector of an instruction; None if A is dense."""
        if self._words is None:
            return None
        word, threads = selector(self._element, k)
        return self._words[row * self._per_row + word], threads


@LOWERINGS.of(FillOp)
def lower_pinned_fill(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the fragment with the same value in every register.

    The registers of a fragment in flight, which may be an operand of the next mma, are pinned.
    """
    fragment = lower_fill(typed, target)
    if not is_in_flight(typed.result):
        return fragment
    return _pin(fragment, target.registers(typed.result))


def _pin(fragment: Value, registers: AccumulatorRegisters) -> Value:
    """Return the fragment with its registers pinned, block by block."""
    return registers.join([_pin_registers(scalars) for _, scalars in registers.scalars(fragment)])


def _structs(accumulator: Value | None, registers: AccumulatorRegisters) -> list[Value]:
    """Return the registers of each block before the first instruction; poison without an accumulator."""
    if accumulator is not None:
        return registers.split(accumulator)
    blocks = range(len(registers.blocks))
    return [emit.value("llvm.mlir.poison", (), registers.block_type(i)) for i in blocks]


@cached_in_context
def _attributes(
    context: Context, qualifiers: InstructionQualifiers, n: int, accumulate: bool
) -> dict[str, Attribute]:
    def parse(text: str) -> Attribute:
        return ir.Attribute.parse(f"#nvvm.{text}", context)

    def sign(role: str) -> str:
        return "neg" if qualifiers.sign(role) < 0 else "one"

    # Upstream transposes A where its layout is `col` and B where its layout is `row`.
    attributes = {
        "shape": parse(f"shape<m = {INSTRUCTION_M}, n = {n}, k = {instruction_k(qualifiers.a)}>"),
        "typeA": parse(f"wgmma_type<{qualifiers.a}>"),
        "typeB": parse(f"wgmma_type<{qualifiers.b}>"),
        "typeD": parse(f"wgmma_type<{qualifiers.accumulator}>"),
        "scaleD": parse(f"wgmma_scale_out<{'one' if accumulate else 'zero'}>"),
        "scaleA": parse(f"wgmma_scale_in<{sign('a')}>"),
        "scaleB": parse(f"wgmma_scale_in<{sign('b')}>"),
        "layoutA": parse(f"mma_layout<{'row' if qualifiers.a_major == 'k' else 'col'}>"),
        "layoutB": parse(f"mma_layout<{'col' if qualifiers.b_major == 'k' else 'row'}>"),
    }
    if "satfinite" in qualifiers.modifiers:
        attributes["satfinite"] = parse("mma_int_overflow<satfinite>")
    return attributes


@LOWERINGS.of(WaitOp)
def lower_wait(typed: TypedOp, target: MmaTarget) -> Value:
    """Emit `wgmma.wait_group`; return the registers after the wait.

    If the result is readable, the registers pass through the inline assembly of the instruction, so that
    LLVM cannot move a read of them before it; the intrinsic would not tie them. The registers of further
    blocks pass through empty assembly after it: LLVM keeps the order of assembly with side effects.
    """
    op, registers = typed.op, target.registers(typed.result)
    pending, fragment = op.pending.value, op.fragment
    if is_in_flight(typed.result):
        _emit_wait(pending)
        return fragment
    instruction = f"wgmma.wait_group.sync.aligned {pending};"
    structs = []
    for position, scalars in registers.scalars(fragment):
        count = len(scalars)
        output = "=f" if registers.register == "f32" else "=r"
        outputs, inputs = ",".join([output] * count), ",".join(map(str, range(count)))
        struct = emit.value(
            "llvm.inline_asm",
            scalars,
            registers.block_type(position),
            asm_string=ir.StringAttr.get("" if structs else instruction),
            constraints=ir.StringAttr.get(f"{outputs},{inputs},~{{memory}}"),
            has_side_effects=ir.UnitAttr.get(),
        )
        structs.append(struct)
    return registers.join(structs)


def _fence_registers(words: list[Value]) -> list[Value]:
    """Emit a `wgmma.fence` through which the registers of A pass.

    The fence must be between the writes of these registers and the instruction (PTX ISA 9.7.15.7.1). As
    operands of the fence they cannot be written after it; upstream's op does not have them.
    """
    struct = _pass_through("wgmma.fence.sync.aligned;", words, "~{memory}")
    return [extract(struct, i, emit.i32()) for i in range(len(words))]


def _pin_registers(scalars: list[Value]) -> Value:
    """Emit empty assembly through which values of one type, i32 or f32, pass; return their struct.

    LLVM then computes the values before this point, in registers of their own: it neither rematerialises
    a constant at its use, nor copies a value that is used again. It keeps the order of assembly
    statements, so the fence that follows stays after this one.
    """
    return _pass_through("", scalars)


def multiply(
    qualifiers: InstructionQualifiers,
    n: int,
    adds: bool | Value,
    accumulator: Value,
    a: tuple[Value, ...],
    b: Value,
    metadata: tuple[Value, int] | None,
) -> Value:
    """Emit one instruction; return the struct of the registers of its accumulator.

    Args:
        qualifiers: its types, majorness and modifiers.
        n: its N.
        adds: scale-d, whether it adds to the accumulator: a constant or an i32 value.
        accumulator: the struct of registers.
        a: the descriptor of A, or its four registers.
        b: the descriptor of B.
        metadata: the register and the selector of a sparse A.
    """
    count = n // 2 // qualifiers.accumulator.per_register
    type_ = ir.F32Type.get() if qualifiers.accumulator is ACC_F32 else emit.i32()
    scalars = [extract(accumulator, i, type_) for i in range(count)]
    operands = [*scalars]
    constraints: list[str] = []

    def operand(value: Value, constraint: str) -> str:
        """Add an input; return its number, after the outputs and the inputs that are tied to them."""
        operands.append(value)
        constraints.append(constraint)
        return f"${count + len(operands) - 1}"

    in_registers = len(a) > 1
    a_names = [operand(value, "r" if in_registers else "l") for value in a]
    names = [_register_list([f"${i}" for i in range(count)])]
    names += [_register_list(a_names) if in_registers else a_names[0], operand(b, "l")]
    if metadata is not None:
        names += [operand(metadata[0], "r"), str(metadata[1])]
    condition = str(int(adds)) if isinstance(adds, bool) else operand(adds, "r")
    text = (
        f"{{\n.reg .pred p;\nsetp.ne.b32 p, {condition}, 0;\n"
        f"{_mnemonic(qualifiers, n, metadata is not None)} "
        f"{', '.join([*names, 'p', *_immediates(qualifiers, in_registers)])};\n}}"
    )
    letter = "f" if qualifiers.accumulator is ACC_F32 else "r"
    outputs, tied = ",".join([f"={letter}"] * count), ",".join(map(str, range(count)))
    return emit.value(
        "llvm.inline_asm",
        operands,
        accumulator.type,
        asm_string=ir.StringAttr.get(text),
        constraints=ir.StringAttr.get(f"{outputs},{tied},{','.join(constraints)}"),
        has_side_effects=ir.UnitAttr.get(),
    )


def _mnemonic(qualifiers: InstructionQualifiers, n: int, sparse: bool) -> str:
    """Return the instruction with its qualifiers (PTX ISA 9.7.15.5.2 and 9.7.15.6.2)."""
    k = instruction_k(qualifiers.a) * (SPARSITY if sparse else 1)
    parts = [
        "wgmma.mma_async" + (".sp" if sparse else ""),
        "sync.aligned",
        f"m{INSTRUCTION_M}n{n}k{k}",
        *(["satfinite"] if "satfinite" in qualifiers.modifiers else []),
        str(qualifiers.accumulator),
        str(qualifiers.a),
        str(qualifiers.b),
        *(["and.popc"] if qualifiers.a is B1 else []),
    ]
    return ".".join(parts)


def _immediates(qualifiers: InstructionQualifiers, a_in_registers: bool) -> list[str]:
    """Return the immediates after scale-d: signs of floats, transposes of 16-bit types."""
    if qualifiers.accumulator.integer:
        return []
    immediates = [str(qualifiers.sign("a")), str(qualifiers.sign("b"))]
    if qualifiers.a in MN_MAJOR:
        majors = (
            [qualifiers.b_major] if a_in_registers else [qualifiers.a_major, qualifiers.b_major]
        )
        immediates += [str(int(major == "mn")) for major in majors]
    return immediates


def _register_list(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}"


def _pass_through(text: str, values: list[Value], *clobbers: str) -> Value:
    """Emit assembly through which values of one type, i32 or f32, pass unchanged; return their struct."""
    count, type_ = len(values), values[0].type
    struct = ir.Type.parse(f"!llvm.struct<({', '.join([str(type_)] * count)})>")
    output = "=f" if isinstance(type_, ir.F32Type) else "=r"
    outputs, inputs = ",".join([output] * count), ",".join(map(str, range(count)))
    return emit.value(
        "llvm.inline_asm",
        values,
        struct,
        asm_string=ir.StringAttr.get(text),
        constraints=ir.StringAttr.get(",".join([outputs, inputs, *clobbers])),
        has_side_effects=ir.UnitAttr.get(),
    )
