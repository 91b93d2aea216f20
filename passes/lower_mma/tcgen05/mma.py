"""Lowerings of mma, waits, and fills and columns of accumulators, to `tcgen05`."""

from ....bindings.irtypes import Attribute, Context, Value
from ....bindings.mlir import ir
from ....dialect.caching import cached_in_context
from ....dialect.ops import ColumnsOp, DescriptorMma, FillOp, MmaDescOp, MmaDescSpOp, WaitOp
from ....dialect.types import FragmentType, is_in_flight, shape_of
from ....ir import emit
from ....ir.errors import OpError
from ....ir.kernel import function_of
from ....layout.tcgen05 import InstructionDescriptor, Kind
from ..fragments.elementwise import lower_fill
from ..fragments.regrouping import lower_columns
from ..mma_qualifiers import InstructionQualifiers, qualifiers_of
from ..registers import word_count, words_of
from ..target import TypedOp
from .target import LOWERINGS, Tcgen05Target
from .tensor_memory import pointer


@LOWERINGS.of(MmaDescOp, MmaDescSpOp)
def lower_tcgen05(typed: TypedOp, target: Tcgen05Target) -> Value:
    """Emit the instructions of one mma, which one thread of the warpgroup issues.

    Returns:
        The address of the accumulator (i32).

    Raises:
        OpError: if no instruction has that N.
    """
    op, registers, descriptors = typed.op, target.registers(typed.result), target.descriptors
    kernel, a_type = target.kernel_of(op), typed.type_of("a")
    qualifiers = qualifiers_of(op, registers.accumulator)
    in_registers = isinstance(a_type, FragmentType)
    kind = next(
        k for k in target.arch.kinds if k.multiplies(qualifiers.a, qualifiers.b) and not k.scales
    )
    function = function_of(op)
    b = descriptors.of_mma_tiles(op, "b", function)
    if in_registers:
        a = kernel.a_of(a_type, words_of(op.a, word_count(a_type)))
    else:
        a = descriptors.of_a(op, registers, function)
    accumulator = kernel.accumulator_of(typed, registers)
    across, k_blocks = registers.across, registers.k_blocks(op)
    with kernel.memory.issue():
        if in_registers:
            a = [pointer(address) for address in a]
        outputs = accumulator.pointers(registers)
        for k in range(k_blocks):
            adds = accumulator.adds(k)
            for i, (_, _, n) in enumerate(registers.instructions):
                row, column = divmod(i, across)
                bits = _instruction(op, qualifiers, kind, registers.rows, n)
                instruction = emit.constant(bits, emit.i32())
                a_operand, b_operand = a[row * k_blocks + k], b[column * k_blocks + k]
                emit.op(
                    "nvvm.tcgen05.mma",
                    (outputs[i], a_operand, b_operand, instruction, adds),
                    ctaGroup=kernel.memory.group,
                    **_attributes(ir.Context.current, kind.name),
                )
    return accumulator.address


@LOWERINGS.of(WaitOp)
def lower_wait(typed: TypedOp, target: Tcgen05Target) -> Value:
    """Emit the wait for the warpgroup's mma, and the loads of the result.

    Returns:
        The registers of the result; its address if it stays in tensor memory.
    """
    op = typed.op
    memory = target.kernel_of(op).memory
    memory.wait(op.pending.value)
    address = op.fragment
    return address if typed.stays else memory.load(address, target.registers(typed.result))


@LOWERINGS.of(ColumnsOp)
def lower_columns_in_place(typed: TypedOp, target: Tcgen05Target) -> Value:
    """Emit the loads of some columns of an accumulator that has stayed in tensor memory."""
    op = typed.op
    if op.fragment.type != emit.i32():
        return lower_columns(typed, target)
    _, columns = shape_of(typed.type_of("fragment"))
    address = emit.binary("addi", op.fragment, op.first.value)
    return target.kernel_of(op).memory.load(address, target.registers(typed.result), columns)


@LOWERINGS.of(FillOp)
def lower_fill_in_place(typed: TypedOp, target: Tcgen05Target) -> Value:
    """Emit the initialisation of an accumulator in flight; return its address."""
    fragment = lower_fill(typed, target)
    if not is_in_flight(typed.result):
        return fragment
    return target.kernel_of(typed.op).initialize(
        typed.result, target.registers(typed.result), fragment
    )


def _instruction(
    op: DescriptorMma, qualifiers: InstructionQualifiers, kind: Kind, m: int, n: int
) -> int:
    """Return the instruction descriptor, as a signed number of 32 bits.

    Raises:
        OpError: if there is no such instruction.
    """
    descriptor = InstructionDescriptor(
        kind,
        qualifiers.a,
        qualifiers.b,
        m * op.ctas,
        n,
        str(qualifiers.accumulator),
        qualifiers.a_major == "mn",
        qualifiers.b_major == "mn",
        qualifiers.sign("a") < 0,
        qualifiers.sign("b") < 0,
        "satfinite" in qualifiers.modifiers,
    )
    return checked_bits(op, descriptor)


def checked_bits(op: DescriptorMma, descriptor: InstructionDescriptor) -> int:
    """Return the bits of an instruction descriptor, as a signed number of 32 bits.

    Raises:
        OpError: at `op`, if there is no such instruction.
    """
    try:
        descriptor.check(op.ctas)
    except ValueError as error:
        raise OpError(op, f"is not an instruction: {error}") from None
    bits = descriptor.encode()
    return bits - (1 << 32) if bits >> 31 else bits


@cached_in_context
def _attributes(context: Context, kind: str) -> dict[str, Attribute]:
    return {
        "kind": ir.Attribute.parse(f"#nvvm.tcgen05_mma_kind<{kind}>", context),
        # D, A, B, instruction descriptor, enable-input-d; no scale-input-d, no disable-output-lane.
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 1, 1, 1, 0, 0], context),
    }
