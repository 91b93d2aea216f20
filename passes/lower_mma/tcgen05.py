"""`smem.wgmma`, accumulators that begin, and waits, on architectures with tcgen05."""

from typing import Any, NamedTuple

from ...dialect.bindings import ir
from ...dialect.caching import cached_in_context
from ...dialect.ops.mma import ctas_of, extras_of
from ...dialect.types import is_in_flight, shape_of
from ...layout.arch import Arch
from ...layout.instruction import INSTRUCTION_K_BYTES
from ...layout.tcgen05 import InstructionDescriptor, Kind
from ...layout.wgmma import INSTRUCTION_M
from .. import emit
from ..accumulators import COLUMN_BYTES, columns_of, place_of
from ..base import OpError
from ..kernel import function_of
from .form import Form, form_of
from .instructions import scaled
from .registers import Registers, instruction_rows, word_count, words_of
from .steps import Steps
from .tensor_memory import TensorMemory, pointer


class OnTcgen05:
    """A kernel whose accumulators are in tensor memory.

    Attributes:
        memory: the tensor memory.
        arch: the architecture.
    """

    def __init__(self, op: Any, arch: Arch) -> None:
        """Puts the allocation in the place of the `smem.tensor_memory`."""
        self.arch, self._used = arch, 0
        with ir.InsertionPoint(op), op.location:
            self.memory = TensorMemory(op)
        op.operation.erase()

    def begin(self, fragment: Any, registers: Registers, held: Any) -> Any:
        """Emits the beginning of an accumulator; its address (i32).

        Args:
            fragment: its type.
            registers: its registers.
            held: what is in it at first, in registers; None for nothing.
        """
        address = self._columns(fragment)
        if held is not None:
            # An mma on the columns' last accumulator may be under way, if nobody waited for it.
            self.memory.wait()
            self.memory.store(address, registers, held)
        return address

    def sum_of(self, op: Any, types: "Types", registers: Registers) -> "Sum":
        """What a product adds to: its accumulator, or one that begins here."""
        accumulator, keep = scaled(extras_of(op).accumulator)
        if types.accumulator is not None and is_in_flight(types.accumulator):
            address = accumulator
        else:
            address = self.begin(types.result, registers, accumulator)
        return Sum(address, accumulator is not None, keep)

    def a_of(self, fragment: Any, words: list[Any]) -> list[Any]:
        """Emits the stores of an A to tensor memory; the address of each instruction's share (i32), by
        rows, then along K.

        Args:
            fragment: its type.
            words: its registers, by blocks of 64 rows, then along K.
        """
        address, m = self._columns(fragment), shape_of(fragment)[0]
        rows, blocks = instruction_rows(m, tcgen05=True), m // INSTRUCTION_M
        each = len(words) // blocks
        # The mma that read it before may be under way.
        self.memory.wait()
        of_blocks = [words[i * each : (i + 1) * each] for i in range(blocks)]
        self.memory.store_a(address, of_blocks, rows)
        step = INSTRUCTION_K_BYTES // COLUMN_BYTES
        return [
            emit.binary("addi", address, place_of(row, at, each * 2, rows))
            for row in range(0, m, rows)
            for at in range(0, each * 2, step)
        ]

    def _columns(self, fragment: Any) -> Any:
        """The address of the columns that are next."""
        address = emit.binary("addi", self.memory.first, self._used)
        self._used += columns_of(fragment)
        return address


class Sum(NamedTuple):
    """An accumulator in tensor memory that a product adds to.

    Attributes:
        address: its address (i32).
        holds: whether it holds something before.
        keep: whether that counts (i1), if it is given at run time; else None.
    """

    address: Any
    holds: bool
    keep: Any

    def places(self, registers: Registers) -> list[Any]:
        """Pointers to what each instruction computes."""
        return [
            pointer(
                emit.binary(
                    "addi", self.address, place_of(row, column, registers.columns, registers.rows)
                )
            )
            for row, column, _ in registers.instructions
        ]

    def adds(self, k: int) -> Any:
        """Whether the instructions of a step along K add (i1): only the first meet what the accumulator
        held before."""
        if k == 0 and self.keep is not None:
            return self.keep
        return emit.constant(bool(k) or self.holds, ir.IntegerType.get_signless(1))


class Types(NamedTuple):
    """The fragment types of an mma before they were converted.

    Attributes:
        result: that of its result.
        accumulator: that of its accumulator; None without one.
        a: that of an A in registers; None for one in shared memory.
    """

    result: Any
    accumulator: Any
    a: Any


def lower_tcgen05(
    op: Any,
    types: Types,
    registers: Registers,
    kernel: OnTcgen05,
    steps: Steps,
) -> Any:
    """Emits the instructions of one mma, which one thread of the warpgroup starts.

    Args:
        op: the `smem.wgmma`.
        types: the types that its operands and its result had.
        registers: the result's registers, once it is loaded.
        kernel: the kernel around it.
        steps: the descriptors made so far.

    Returns:
        The accumulator's address.

    Raises:
        OpError: for an N that no instruction has.
    """
    form, a_words = form_of(op, registers.accumulator), word_count(types.a) if types.a else 0
    kind = next(k for k in kernel.arch.kinds if k.multiplies(form.a, form.b) and not k.scales)
    function = function_of(op)
    b = steps.of_blocks(op, "b", function)
    if a_words:
        a = kernel.a_of(types.a, words_of(op.operands[0], a_words))
    else:
        a = steps.of_a(op, registers, function)
    sum_ = kernel.sum_of(op, types, registers)
    across, k_blocks = registers.across, registers.k_blocks(op)
    with kernel.memory.issued():
        if a_words:
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


def lower_tcgen05_wait(op: Any, registers: Registers | None, memory: TensorMemory) -> Any:
    """Emits the wait for the warpgroup's mma, and the loads of the result.

    Args:
        op: the `smem.wait`.
        registers: the result's registers; None where it stays in tensor memory.
        memory: the kernel's tensor memory.

    Returns:
        The registers of the accumulator, or its address.
    """
    memory.wait(ir.IntegerAttr(op.attributes["pending"]).value)
    address = op.operands[0]
    return memory.load(address, registers) if registers else address


def lower_tcgen05_columns(op: Any, registers: Registers, columns: int, memory: TensorMemory) -> Any:
    """Emits the loads of some of the columns of an accumulator that has stayed in tensor memory."""
    first = ir.IntegerAttr(op.attributes["first"]).value
    return memory.load(emit.binary("addi", op.operands[0], first), registers, columns)


def _instruction(op: Any, form: Form, kind: Kind, m: int, n: int) -> int:
    """The instruction descriptor, as a signed number of 32 bits.

    Raises:
        OpError: if there is no such instruction.
    """
    descriptor = InstructionDescriptor(
        kind,
        form.a,
        form.b,
        m * ctas_of(op),
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
        descriptor.check(ctas_of(op))
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
