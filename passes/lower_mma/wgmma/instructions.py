"""`smem.mma_desc` as a group of `nvvm.wgmma.mma_async`, and the wait for groups."""

from typing import Any

from ....dialect.bindings import ir
from ....dialect.caching import cached_in_context
from ....dialect.ops import FillOp, MmaDescOp, MmaDescSpOp, WaitOp
from ....dialect.types import FragmentType, is_in_flight
from ....ir import emit
from ....ir.kernel import function_of
from ....layout.elements import B1
from ....layout.fragments import A_FRAGMENT_REGISTERS
from ....layout.instruction import instruction_k
from ....layout.wgmma import INSTRUCTION_M
from ..fragments.elementwise import lower_fill
from ..mma_qualifiers import MmaQualifiers, qualifiers_of
from ..registers import Registers, word_count, words_of
from ..scale_d import scaled
from ..target import MmaTarget
from ..typed import TypedOp
from .assembly import fence_registers, multiply, pin_registers
from .metadata import Metadata
from .target import LOWERINGS


@LOWERINGS.of(MmaDescOp, MmaDescSpOp)
def lower_wgmma(typed: TypedOp, target: MmaTarget) -> Any:
    """Emits the instructions of one mma between a fence and a commit; the registers, in flight.

    The fence orders the registers before the first instruction (PTX ISA 9.7.15.7.1); instructions
    that share an accumulator follow each other without one.
    """
    op, registers, steps = typed.op, target.registers(typed.result), target.steps
    a_type, function = typed.type_of("a"), function_of(op)
    a_words = word_count(a_type) if isinstance(a_type, FragmentType) else 0
    form = qualifiers_of(op, registers.accumulator)
    columns = registers.across
    row_blocks = len(registers.blocks) // columns
    k_blocks = registers.k_blocks(op)
    accumulator, keep = scaled(op.accumulator)
    if accumulator is not None and not is_in_flight(typed.type_of("accumulator")):
        # One in flight was pinned when it was filled, or an earlier mma has written it.
        accumulator = _pinned(accumulator, registers)
    words = _fence(op, a_words)
    subtiles = _subtiles(accumulator, registers)
    if words:
        count = A_FRAGMENT_REGISTERS
        a = [tuple(words[i : i + count]) for i in range(0, a_words, count)]
    else:
        a = [(descriptor,) for descriptor in steps.of_a(op, registers, function)]
    b = steps.of_blocks(op, "b", function)
    scale = None if keep is None else emit.value("arith.extui", (keep,), emit.i32())
    metadata = Metadata(op.metadata, form.a, row_blocks, k_blocks)
    in_assembly = a_words > 0 or op.metadata is not None or form.a is B1
    said: dict[tuple[int, bool], Any] = {}
    for k in range(k_blocks):
        # Only the first products along K meet what the accumulator held before.
        adds = bool(k) or accumulator is not None
        condition = scale if k == 0 else None
        for i, (_, _, n) in enumerate(registers.blocks):
            row, column = divmod(i, columns)
            first, second = a[row * k_blocks + k], b[column * k_blocks + k]
            if in_assembly or condition is not None:
                scale_d = adds if condition is None else condition
                kept = metadata.of(row, k)
                subtiles[i] = multiply(form, n, scale_d, subtiles[i], first, second, kept)
                continue
            if (n, adds) not in said:
                said[n, adds] = _attributes(ir.Context.current, form, n, adds)
            subtiles[i] = ir.Operation.create(
                "nvvm.wgmma.mma_async",
                results=[subtiles[i].type],
                operands=[subtiles[i], *first, second],
                attributes=said[n, adds],
            ).result
    emit.op("nvvm.wgmma.commit.group.sync.aligned")
    return registers.join(subtiles)


def _fence(op: Any, a_words: int) -> list[Any]:
    """Emits the fence; gives the registers that hold A, if there are any."""
    if a_words:
        return fence_registers(words_of(op.a, a_words))
    emit.op("nvvm.wgmma.fence.aligned")
    return []


@LOWERINGS.of(FillOp)
def lower_pinned_fill(typed: TypedOp, target: MmaTarget) -> Any:
    """The fragment with the same value in every register; of one in flight, which the tensor core may be
    given next, the registers are pinned."""
    filled = lower_fill(typed, target)
    if not is_in_flight(typed.result):
        return filled
    return _pinned(filled, target.registers(typed.result))


def _pinned(fragment: Any, registers: Registers) -> Any:
    """The fragment with its registers pinned, one block after the other."""
    return registers.join([pin_registers(scalars) for _, scalars in registers.scalars(fragment)])


def _subtiles(accumulator: Any, registers: Registers) -> list[Any]:
    """Each instruction block's registers before the first product; poison where there are none."""
    if accumulator is not None:
        return registers.split(accumulator)
    blocks = range(len(registers.blocks))
    return [emit.value("llvm.mlir.poison", (), registers.block_type(i)) for i in blocks]


@cached_in_context
def _attributes(context: Any, form: MmaQualifiers, n: int, accumulate: bool) -> dict[str, Any]:
    def parse(text: str) -> Any:
        return ir.Attribute.parse(f"#nvvm.{text}", context)

    def sign(role: str) -> str:
        return "neg" if form.sign(role) < 0 else "one"

    # Upstream transposes A where its layout is `col` and B where its layout is `row`.
    attributes = {
        "shape": parse(f"shape<m = {INSTRUCTION_M}, n = {n}, k = {instruction_k(form.a)}>"),
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


@LOWERINGS.of(WaitOp)
def lower_wait(typed: TypedOp, target: MmaTarget) -> Any:
    """Emits `wgmma.wait_group`; the registers after the wait.

    Where the result is readable, the registers pass through the inline assembly of the instruction,
    so that LLVM cannot move a read of them before it; the intrinsic would not tie them. Further
    blocks pass through empty assembly behind it: LLVM keeps the order of assembly with side effects.
    """
    op, registers = typed.op, target.registers(typed.result)
    pending, fragment = op.pending.value, op.fragment
    if is_in_flight(typed.result):
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
