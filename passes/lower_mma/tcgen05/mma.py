"""The mma, the accumulators that begin, and the waits of kernels with tensor memory."""

from typing import Any

from ....dialect.bindings import ir
from ....dialect.caching import cached_in_context
from ....dialect.ops import ColumnsOp, FillOp, MmaDescOp, MmaDescSpOp, WaitOp
from ....dialect.types import FragmentType, is_in_flight, shape_of
from ....ir import emit
from ....ir.errors import OpError
from ....ir.kernel import function_of
from ....layout.tcgen05 import InstructionDescriptor, Kind
from ..fragments.columns import lower_columns
from ..fragments.elementwise import lower_fill
from ..mma_qualifiers import MmaQualifiers, qualifiers_of
from ..registers import word_count, words_of
from ..typed import TypedOp
from .target import LOWERINGS, Tcgen05Target
from .tensor_memory import pointer


@LOWERINGS.of(MmaDescOp, MmaDescSpOp)
def lower_tcgen05(typed: TypedOp, target: Tcgen05Target) -> Any:
    """Emits the instructions of one mma, which one thread of the warpgroup starts; the accumulator's
    address.

    Raises:
        OpError: for an N that no instruction has.
    """
    op, registers, steps = typed.op, target.registers(typed.result), target.steps
    kernel, a_type = target.kernel_of(op), typed.type_of("a")
    form, in_registers = qualifiers_of(op, registers.accumulator), isinstance(a_type, FragmentType)
    kind = next(k for k in target.arch.kinds if k.multiplies(form.a, form.b) and not k.scales)
    function = function_of(op)
    b = steps.of_blocks(op, "b", function)
    if in_registers:
        a = kernel.a_of(a_type, words_of(op.a, word_count(a_type)))
    else:
        a = steps.of_a(op, registers, function)
    sum_ = kernel.sum_of(typed, registers)
    across, k_blocks = registers.across, registers.k_blocks(op)
    with kernel.memory.issued():
        if in_registers:
            a = [pointer(address) for address in a]
        places = sum_.places(registers)
        for k in range(k_blocks):
            adds = sum_.adds(k)
            for i, (_, _, n) in enumerate(registers.instructions):
                row, column = divmod(i, across)
                described = _instruction(op, form, kind, registers.rows, n)
                instruction = emit.constant(described, emit.i32())
                first, second = a[row * k_blocks + k], b[column * k_blocks + k]
                emit.op(
                    "nvvm.tcgen05.mma",
                    (places[i], first, second, instruction, adds),
                    ctaGroup=kernel.memory.group,
                    **_attributes(ir.Context.current, kind.name),
                )
    return sum_.address


@LOWERINGS.of(WaitOp)
def lower_wait(typed: TypedOp, target: Tcgen05Target) -> Any:
    """Emits the wait for the warpgroup's mma, and the loads of the result; its registers, or its address
    where it stays in tensor memory."""
    op = typed.op
    memory = target.kernel_of(op).memory
    memory.wait(op.pending.value)
    address = op.fragment
    return address if typed.stays else memory.load(address, target.registers(typed.result))


@LOWERINGS.of(ColumnsOp)
def lower_columns_in_place(typed: TypedOp, target: Tcgen05Target) -> Any:
    """Emits the loads of some of the columns of an accumulator that has stayed in tensor memory."""
    op = typed.op
    if op.fragment.type != emit.i32():
        return lower_columns(typed, target)
    _, columns = shape_of(typed.type_of("fragment"))
    address = emit.binary("addi", op.fragment, op.first.value)
    return target.kernel_of(op).memory.load(address, target.registers(typed.result), columns)


@LOWERINGS.of(FillOp)
def lower_fill_in_place(typed: TypedOp, target: Tcgen05Target) -> Any:
    """Emits the beginning of an accumulator in flight; its address."""
    filled = lower_fill(typed, target)
    if not is_in_flight(typed.result):
        return filled
    return target.kernel_of(typed.op).begin(typed.result, target.registers(typed.result), filled)


def _instruction(op: Any, form: MmaQualifiers, kind: Kind, m: int, n: int) -> int:
    """The instruction descriptor, as a signed number of 32 bits.

    Raises:
        OpError: if there is no such instruction.
    """
    descriptor = InstructionDescriptor(
        kind,
        form.a,
        form.b,
        m * op.ctas,
        n,
        str(form.accumulator),
        form.a_major == "mn",
        form.b_major == "mn",
        form.sign("a") < 0,
        form.sign("b") < 0,
        "satfinite" in form.modifiers,
    )
    return checked_bits(op, descriptor)


def checked_bits(op: Any, descriptor: InstructionDescriptor) -> int:
    """The bits of an instruction descriptor of an mma, as a signed number.

    Raises:
        OpError: if no instruction is that; it is reported at `op`.
    """
    try:
        descriptor.check(op.ctas)
    except ValueError as error:
        raise OpError(op, f"is no instruction: {error}") from None
    bits = descriptor.encode()
    return bits - (1 << 32) if bits >> 31 else bits


@cached_in_context
def _attributes(context: Any, kind: str) -> dict[str, Any]:
    return {
        "kind": ir.Attribute.parse(f"#nvvm.tcgen05_mma_kind<{kind}>", context),
        # D, A, B, the instruction and whether it adds; no scale of D, no mask of lanes.
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 1, 1, 1, 0, 0], context),
    }
