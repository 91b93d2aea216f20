"""The `wgmma` target: `smem.mma_desc` as a group of `nvvm.wgmma.mma_async`, and the wait for groups."""

from ....bindings.irtypes import Attribute, Context, Op, Value
from ....bindings.mlir import ir
from ....dialect.caching import cached_in_context
from ....dialect.ops import FillOp, MmaDescOp, MmaDescSpOp, WaitOp
from ....dialect.types import FragmentType, is_in_flight
from ....ir import emit
from ....ir.kernel import function_of
from ....ir.lowerings import Lowerings
from ....layout import Element
from ....layout.elements import B1
from ....layout.fragments import A_FRAGMENT_REGISTERS
from ....layout.instruction import instruction_k
from ....layout.wgmma import INSTRUCTION_M, SPARSITY, metadata_words, selector
from ..fragments.elementwise import lower_fill
from ..mma_qualifiers import InstructionQualifiers, qualifiers_of, split_scale_d
from ..registers import AccumulatorRegisters, word_count, words_of
from ..target import MmaTarget, TypedOp
from .assembly import fence_registers, multiply, pin_registers

#: The ops that have their own lowering for `wgmma`; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class WgmmaTarget(MmaTarget):
    """`wgmma` keeps accumulators in registers."""

    isa = "wgmma"
    lowerings = LOWERINGS


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
    metadata = SparseMetadata(op.metadata, qualifiers.a, row_blocks, k_blocks)
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
        return fence_registers(words_of(op.a, a_words))
    emit.op("nvvm.wgmma.fence.aligned")
    return []


class SparseMetadata:
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
    return registers.join([pin_registers(scalars) for _, scalars in registers.scalars(fragment)])


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
        group = ir.IntegerAttr.get(emit.i64(), pending)
        emit.op("nvvm.wgmma.wait.group.sync.aligned", group=group)
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
