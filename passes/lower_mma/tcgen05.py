"""The `tcgen05` target: mma whose accumulators are in tensor memory, issued by one thread of a warpgroup.

Waits, fills and columns of accumulators are lowered here too, and block-scaled mma, which copies scale
factors to tensor memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...bindings.irtypes import Attribute, Context, Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.caching import cached_in_context
from ...dialect.ops import (
    AnyMma,
    ColumnsOp,
    DescriptorMma,
    FillOp,
    MmaDescOp,
    MmaDescScaledOp,
    MmaDescSpOp,
    TensorMemoryOp,
    WaitOp,
)
from ...dialect.ops.mma_desc_scaled import k_bytes_of, scaling_of_descriptors
from ...dialect.types import FragmentType, is_in_flight, shape_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import function_of
from ...ir.lowerings import Lowerings
from ...ir.matrix_descriptors import START_MASK
from ...ir.tensor_memory import COLUMN_BYTES, address_offset, columns_of
from ...ir.walk import holds
from ...layout.descriptor import LBO
from ...layout.instruction import INSTRUCTION_K_BYTES
from ...layout.tcgen05 import LBO_MODE, LONG_K_BYTES, TCGEN05_M, InstructionDescriptor, Kind
from ...layout.tcgen05.scales import BLOCK_COLUMNS, BLOCK_ROWS, LANES, scale_step
from ...layout.wgmma import INSTRUCTION_M
from .fragments.elementwise import lower_fill
from .fragments.regrouping import lower_columns
from .registers import AccumulatorRegisters, word_count, words_of
from .target import (
    InstructionQualifiers,
    MmaTarget,
    TileDescriptors,
    TypedOp,
    qualifiers_of,
    split_scale_d,
)
from .tensor_memory import TensorMemoryAllocation, check_tensor_memory, pointer

#: The ops that have their own lowering for `tcgen05`; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class _MmaAccumulator(NamedTuple):
    """An accumulator in tensor memory that an mma adds to.

    Attributes:
        address: its address (i32).
        is_initialised: whether it has a value before the mma.
        keep: whether the mma adds to that value (i1), if this is known at run time only; else None.
    """

    address: Value
    is_initialised: bool
    keep: Value

    def pointers(self, registers: AccumulatorRegisters) -> list[Value]:
        """Return a pointer to the columns that each instruction writes."""
        return [
            pointer(
                emit.binary(
                    "addi",
                    self.address,
                    address_offset(row, column, registers.columns, registers.rows),
                )
            )
            for row, column, _ in registers.instructions
        ]

    def adds(self, k: int) -> Value:
        """Return whether the instructions of a K block add to the accumulator (i1).

        Only those of K block 0 depend on its value before the mma.
        """
        if k == 0 and self.keep is not None:
            return self.keep
        return emit.constant(bool(k) or self.is_initialised, ir.IntegerType.get_signless(1))


class _TensorMemoryKernel:
    """A kernel whose accumulators are in tensor memory.

    Attributes:
        memory: the tensor memory.
    """

    def __init__(self, op: TensorMemoryOp, rows: Callable[[int], int]) -> None:
        """Replace an `smem.tensor_memory` by the allocation.

        Args:
            op: the `smem.tensor_memory`.
            rows: from the rows of an mma to those of its instructions.
        """
        self._rows, self._used_columns = rows, 0
        with ir.InsertionPoint(op), op.location:
            self.memory = TensorMemoryAllocation(op)
        op.operation.erase()

    def initialize(self, type_: Type, registers: AccumulatorRegisters, fragment: Value) -> Value:
        """Emit the initialisation of an accumulator; return its address (i32).

        Args:
            type_: its type.
            registers: its registers.
            fragment: its initial value in registers; None if it is not initialised.
        """
        address = self._columns(type_)
        if fragment is not None:
            # Without a wait, an mma on the previous accumulator in these columns may be in flight.
            self.memory.wait()
            self.memory.store(address, registers, fragment)
        return address

    def accumulator_of(self, typed: TypedOp, registers: AccumulatorRegisters) -> _MmaAccumulator:
        """Return the accumulator of an mma: its operand, or a new one.

        Args:
            typed: the mma.
            registers: the registers of the result, once it is loaded.
        """
        accumulator, keep = split_scale_d(typed.op.accumulator)
        type_ = typed.type_of("accumulator")
        if type_ is not None and is_in_flight(type_):
            address = accumulator
        else:
            address = self.initialize(typed.result, registers, accumulator)
        return _MmaAccumulator(address, accumulator is not None, keep)

    def a_of(self, fragment: Type, words: list[Value]) -> list[Value]:
        """Emit the stores of an A fragment to tensor memory.

        Args:
            fragment: its type.
            words: its registers, by blocks of 64 rows, then along K.

        Returns:
            The address (i32) of each MMA tile, by rows, then along K.
        """
        address, m = self._columns(fragment), shape_of(fragment)[0]
        rows, blocks = self._rows(m), m // INSTRUCTION_M
        words_per_block = len(words) // blocks
        # The mma that read these columns before may be in flight.
        self.memory.wait()
        words_of_blocks = [
            words[i * words_per_block : (i + 1) * words_per_block] for i in range(blocks)
        ]
        self.memory.store_a(address, words_of_blocks, rows)
        step = INSTRUCTION_K_BYTES // COLUMN_BYTES
        return [
            emit.binary("addi", address, address_offset(row, column, words_per_block * 2, rows))
            for row in range(0, m, rows)
            for column in range(0, words_per_block * 2, step)
        ]

    def _columns(self, fragment: Type) -> Value:
        """Return the address of the next free columns."""
        address = emit.binary("addi", self.memory.first, self._used_columns)
        self._used_columns += columns_of(fragment)
        return address


class Tcgen05Target(MmaTarget):
    """`tcgen05` keeps accumulators in flight in tensor memory: each becomes an address (i32)."""

    isa = "tcgen05"
    lowerings = LOWERINGS

    def check(self, ops: Sequence[Op], memories: Sequence[Any]) -> None:
        check_tensor_memory(ops, memories)

    def record(self, ops: Sequence[TypedOp]) -> None:
        for typed in ops:
            if isinstance(typed.op, WaitOp):
                typed.stays = is_in_flight(typed.result) or _is_read_by_columns(typed.op)

    def register_type(self, fragment: Type) -> Type:
        return emit.i32() if is_in_flight(fragment) else super().register_type(fragment)

    def prepare(self, memories: Sequence[Any]) -> None:
        self._kernels = {function_of(op): _TensorMemoryKernel(op, self.rows) for op in memories}

    def kernel_of(self, op: Op) -> _TensorMemoryKernel:
        """Return the kernel of an op with an accumulator in flight."""
        return self._kernels[function_of(op)]


def _is_read_by_columns(wait: WaitOp) -> bool:
    """Return whether an accumulator stays in tensor memory after a wait.

    Its only uses are `smem.columns` in the same basic block, before another mma could overwrite it. Each
    loads its columns where they are used, so that a thread never holds the whole accumulator.
    """
    operation = wait.operation
    users = [use.owner for use in wait.result.uses]
    block = operation.block
    if not users or any(
        not isinstance(user, ColumnsOp) or user.operation.block != block for user in users
    ):
        return False
    ops = [op.operation for op in block.operations]
    last = max(ops.index(user.operation) for user in users)
    return not any(holds(op, AnyMma) for op in ops[ops.index(operation) + 1 : last])


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
    return _checked_bits(op, descriptor)


def _checked_bits(op: DescriptorMma, descriptor: InstructionDescriptor) -> int:
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


@LOWERINGS.of(MmaDescScaledOp)
def lower_scaled(typed: TypedOp, target: Tcgen05Target) -> Value:
    """Emit the copies and the instructions of one scaled mma, which one thread of the warpgroup issues.

    Copies and mma of one thread are executed in their order (mma after copies: PTX ISA 9.7.16.6.2; copies
    after mma: Triton's tutorial, and CUTLASS relies on it). So the factors of all mma of a warpgroup use
    the same columns.

    Returns:
        The address of the accumulator (i32).
    """
    op, registers, descriptors = typed.op, target.registers(typed.result), target.descriptors
    kernel = target.kernel_of(op)
    scaling = scaling_of_descriptors(op)
    qualifiers = qualifiers_of(op, registers.accumulator)
    m = shape_of(typed.result)[0]
    k_bytes = k_bytes_of(op, scaling, m)
    a, b = (_descriptors(op, operand, k_bytes, descriptors) for operand in "ab")
    factors = _ScaleFactors(op, m, descriptors, kernel.memory)
    accumulator = kernel.accumulator_of(typed, registers)
    across, k_blocks = registers.across, registers.k_blocks(op)
    count = k_bytes * 8 // scaling.a.bits // scaling.block
    with kernel.memory.issue():
        factors.copy()
        outputs = accumulator.pointers(registers)
        for k in range(k_blocks):
            adds, (word, byte) = accumulator.adds(k), scale_step(k, count)
            for i, (row, column, n) in enumerate(registers.instructions):
                down, right = divmod(i, across)
                descriptor = InstructionDescriptor(
                    scaling.kind,
                    scaling.a,
                    scaling.b,
                    TCGEN05_M * op.ctas,
                    n,
                    a_mn_major=qualifiers.a_major == "mn",
                    b_mn_major=qualifiers.b_major == "mn",
                    negate_a=qualifiers.sign("a") < 0,
                    negate_b=qualifiers.sign("b") < 0,
                    scale=scaling.scale,
                    a_scale=byte,
                    b_scale=byte,
                    k_bytes=k_bytes,
                )
                emit.op(
                    "nvvm.tcgen05.mma.block_scale",
                    (
                        outputs[i],
                        a[down * k_blocks + k],
                        b[right * k_blocks + k],
                        emit.constant(_checked_bits(op, descriptor), emit.i32()),
                        adds,
                        factors.of_a(row, word),
                        factors.of_b(column, word),
                    ),
                    ctaGroup=kernel.memory.group,
                    **_scaled_attributes(ir.Context.current, scaling.kind.name, scaling.block),
                )
    return accumulator.address


def _descriptors(
    op: MmaDescScaledOp, operand: str, k_bytes: int, descriptors: TileDescriptors
) -> list[Value]:
    """Return the descriptor of each MMA tile of A or B.

    If the rows of a tile are in two chunks, the LBO field of its descriptor is the address of the second
    chunk (absolute mode), whose distance from the first MMA tile is an attribute of the op.
    """
    function = function_of(op)
    if k_bytes != LONG_K_BYTES:
        return descriptors.of_mma_tiles(op, operand, function)
    base = getattr(op, operand)
    shift, first = LBO[0], emit.binary("andi", base, START_MASK)
    absolute = emit.binary("addi", base, emit.binary("shli", first, shift))
    # Replaces the LBO of the base descriptor, which is 1 because nothing depends on it, by the mode bit.
    mode = (1 << LBO_MODE[0]) - (1 << shift)
    return [
        descriptors.advance(base, step, op, function)
        if second < 0
        else descriptors.advance(absolute, step + (second << shift) + mode, op, function)
        for step, second in zip(
            op.attributes[f"{operand}_steps"],
            op.attributes[f"{operand}_second_chunks"],
            strict=True,
        )
    ]


class _ScaleFactors:
    """The scale factors of an mma in tensor memory.

    A block is 128 rows and a word, which is 4 factors along K; it takes four columns. For A, the blocks
    of the same rows are adjacent. For B, the blocks of the same word are. So the next word, in which the
    factors of an instruction may continue, follows the columns that the instruction's rows take.
    """

    def __init__(
        self,
        op: MmaDescScaledOp,
        m: int,
        descriptors: TileDescriptors,
        memory: TensorMemoryAllocation,
    ) -> None:
        function, self._group = function_of(op), memory.group
        self._descriptors = [
            [
                descriptors.advance(value, step, op, function)
                for step in op.attributes[f"{operand}_scale_steps"]
            ]
            for operand, value in zip("ab", op.scales, strict=True)
        ]
        a, b = map(len, self._descriptors)
        self._words = a // (m // BLOCK_ROWS)
        self._a = emit.binary("addi", memory.first, memory.columns - (a + b) * BLOCK_COLUMNS)
        self._b = emit.binary("addi", self._a, a * BLOCK_COLUMNS)
        # The columns that one word of all rows of B takes.
        self._across = b // self._words * BLOCK_COLUMNS

    def of_a(self, row: int, word: int) -> Value:
        """Return the pointer to a word of the factors of 128 rows of A that begin at `row`."""
        columns = (row // BLOCK_ROWS * self._words + word) * BLOCK_COLUMNS
        return pointer(emit.binary("addi", self._a, columns))

    def of_b(self, column: int, word: int) -> Value:
        """Return the pointer to a word of the factors of the columns of B that begin at `column`."""
        return pointer(emit.binary("addi", self._b, word * self._across + column // LANES))

    def copy(self) -> None:
        """Emit the copies of all factors."""
        a, b = self._descriptors
        for i, descriptor in enumerate(a):
            down, word = divmod(i, self._words)
            self._copy(self.of_a(down * BLOCK_ROWS, word), descriptor)
        for i, descriptor in enumerate(b):
            right, word = divmod(i, self._words)
            self._copy(self.of_b(right * BLOCK_ROWS, word), descriptor)

    def _copy(self, to: Value, descriptor: Value) -> None:
        attributes = _copy_attributes(ir.Context.current)
        emit.op("nvvm.tcgen05.cp", (to, descriptor), group=self._group, **attributes)


@cached_in_context
def _copy_attributes(context: Context) -> dict[str, Attribute]:
    return {
        "shape": ir.Attribute.parse("#nvvm.tcgen05_cp_shape<shape_32x128b>", context),
        "multicast": ir.Attribute.parse("#nvvm.tcgen05_cp_multicast<warpx4>", context),
    }


@cached_in_context
def _scaled_attributes(context: Context, kind: str, block: int) -> dict[str, Attribute]:
    return {
        "kind": ir.Attribute.parse(f"#nvvm.tcgen05_mma_kind<{kind}>", context),
        "blockScale": ir.Attribute.parse(f"#nvvm.tcgen05_mma_block_scale<block{block}>", context),
    }
