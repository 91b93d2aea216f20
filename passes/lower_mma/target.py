"""The interface that an instruction set implements for `smem-lower-mma`, and what lowerings share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Block, Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.op import operand_names
from ...dialect.ops import DescriptorMma, ReduceOp, ScaleDOp
from ...dialect.ops.bases import bases_of
from ...dialect.ops.mma_rules import MODIFIERS
from ...dialect.slices import slice_dim
from ...dialect.types import check_fragment, is_accumulator, shape_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import function_of, required_block_size
from ...ir.lowerings import Lowerings
from ...ir.mma_support import check_mma_support
from ...ir.named_barriers import FIRST_BARRIER, last_barriers
from ...ir.reductions import Exchange, exchange_of
from ...ir.threads import linear_thread
from ...ir.walk import walk
from ...layout import Accumulator, Arch, Element, Major, element
from ...layout.fragments import FRAGMENT_M
from ...layout.tcgen05 import LONG_K_BYTES
from .registers import (
    AccumulatorRegisters,
    SliceRegisters,
    registers_of,
    slice_registers,
    words_type,
)

#: The lowerings of ops on fragments in registers; each file of `fragments/` registers its own. They are
#: functions of a `TypedOp` and the `MmaTarget`, called with the insertion point at the op. They return
#: the value that replaces the result of the op; None for an op without a result.
FRAGMENTS = Lowerings()


class TypedOp:
    """An op on fragments, and its fragment types before they were converted to LLVM types.

    The lowering needs the shapes in these types.

    Attributes:
        op: the op.
        result: the type of its result; None if it has none.
        stays: whether the result stays in tensor memory, although its type is readable.
    """

    def __init__(self, op: Any) -> None:
        self.op = op
        self.result = op.results[0].type if len(op.results) else None
        self.stays = False
        self._operands = {name: _type_of(getattr(op, name)) for name in operand_names(type(op))}

    def type_of(self, operand: str) -> Type:
        """Return the type that an operand had: a list for a variadic one, None for an absent one."""
        return self._operands[operand]

    def thread(self) -> Value:
        """Emit the index of the thread in its CTA (i32)."""
        return linear_thread(required_block_size(self.op))


def _type_of(operand: Value) -> Type:
    if isinstance(operand, list):
        return [value.type for value in operand]
    return None if operand is None else operand.type


class MmaTarget:
    """An instruction set that `smem-lower-mma` lowers to; each run of the pass makes one.

    A subclass is registered when it is defined, and found by the name of its instruction set. Those of
    this project have one file each in `lower_mma/`.

    Attributes:
        isa: the name of the instruction set (`MmaIsa.name`).
        lowerings: the lowerings of its own ops: mma, waits, ops on data that it does not keep in
            registers. They are functions of a `TypedOp` and the target, and return the value that
            replaces the result of the op.
    """

    isa: ClassVar[str]
    lowerings: ClassVar[Lowerings]

    def __init__(self, arch: Arch) -> None:
        self.arch = arch
        #: The descriptors of MMA tiles that have been emitted.
        self.descriptors = TileDescriptors()
        #: The barriers of groups of warpgroups.
        self.named_barriers = NamedBarriers()
        #: The mask of elements of 4 bits in each function that converts them.
        self._nibble_masks: dict[Op, Value] = {}

    def __init_subclass__(cls) -> None:
        _TARGETS[cls.isa] = cls

    def check(self, ops: Sequence[Op], memories: Sequence[Any]) -> None:
        """Check the memory that accumulators need in addition to registers.

        Args:
            ops: the ops on fragments.
            memories: the `smem.tensor_memory` of their functions.

        Raises:
            OpError: for the first op without it, or for memory that no op uses.
        """
        for op in memories:
            raise OpError(op, f"allocates tensor memory, which {self.arch} does not have")

    def record(self, ops: Sequence[TypedOp]) -> None:
        """Record facts about ops that are lost when types are converted and ops are lowered."""

    def prepare(self, memories: Sequence[Any]) -> None:
        """Emit the code before the first instruction of each kernel."""

    def register_type(self, fragment: Type) -> Type:
        """Return the LLVM type that replaces a fragment type."""
        if is_accumulator(fragment):
            return self.registers(fragment).type
        if slice_dim(fragment) is not None:
            return self.slice_registers(fragment).type
        return words_type(fragment)

    def registers(self, fragment: Type) -> AccumulatorRegisters:
        """Return the registers of an accumulator of that type, once it is in registers.

        Raises:
            Invalid: if no registers can hold it.
        """
        check_fragment(fragment)
        return registers_of(fragment, self.rows(shape_of(fragment)[0]))

    def nibble_mask(self, op: Op) -> Value:
        """Return the mask of a pair of elements of 4 bits, 0x000f000f, at the entry of an op's function.

        ptxas moves a constant to a register at almost each use; here it does not know the lowest bit. No
        chip has 2^30 multiprocessors (`%nsmid`).
        """
        function = function_of(op)
        if function not in self._nibble_masks:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                count = emit.value("nvvm.read.ptx.sreg.nsmid", (), emit.i32())
                lowest = emit.binary("xori", emit.binary("shrui", count, 30), 1)
                self._nibble_masks[function] = emit.binary("ori", lowest, 0x000F000E)
        return self._nibble_masks[function]

    def slice_registers(self, slice_: Type) -> SliceRegisters:
        """Return the registers of a slice of that type.

        Raises:
            Invalid: if no registers can hold it.
        """
        # The columns of a thread do not depend on the rows of an instruction.
        extent = shape_of(slice_)[0] if slice_dim(slice_) == 1 else FRAGMENT_M
        return slice_registers(slice_, self.rows(extent))

    def rows(self, m: int) -> int:
        """Return the rows of D of each instruction of an mma of M rows."""
        return self.arch.isa.rows(m)


_TARGETS: dict[str, type[MmaTarget]] = {}


def target_of(arch: Arch) -> MmaTarget:
    """Return the target of an architecture.

    Raises:
        Invalid: if no target is registered for its instruction set.
    """
    if arch.isa.name not in _TARGETS:
        names = ", ".join(sorted(_TARGETS))
        raise Invalid(f"has no lowering to {arch.isa.name}, which {arch} has; there are {names}")
    return _TARGETS[arch.isa.name](arch)


class NamedBarriers:
    """The barriers of the groups of warpgroups that reduce together.

    Two groups share a barrier only if they are the same warpgroups. Otherwise, a warp of one could arrive
    while the other still waits.
    """

    def __init__(self) -> None:
        self._numbers: dict[Op, dict[tuple[int, int, int], int]] = {}

    def first(self, op: ReduceOp, exchange: Exchange) -> int:
        """Return the barrier of the op's first group; that of group i is i later.

        All reductions of the function must still exist at the first call.

        Raises:
            OpError: if the function has more groups than barriers.
        """
        function = function_of(op)
        if function not in self._numbers:
            self._numbers[function] = _assign_barriers(function)
        return self._numbers[function][_group_key(exchange)]


def _assign_barriers(function: Op) -> dict[tuple[int, int, int], int]:
    numbers: dict[tuple[int, int, int], int] = {}
    next_free, end = FIRST_BARRIER, last_barriers(function).first
    for op in walk(function, ReduceOp):
        exchange = exchange_of(op)
        if exchange is None or exchange.warpgroups == 1 or _group_key(exchange) in numbers:
            continue
        numbers[_group_key(exchange)], next_free = next_free, next_free + exchange.groups
        if next_free > end:
            raise OpError(
                op,
                f"needs a barrier for each of {exchange.groups} groups of {exchange.warpgroups} "
                f"warpgroups; of {end - FIRST_BARRIER} barriers for groups, "
                f"{end - next_free + exchange.groups} are left",
            )
    return numbers


def _group_key(exchange: Exchange) -> tuple[int, int, int]:
    return exchange.first, exchange.groups, exchange.warpgroups


@dataclass(frozen=True)
class InstructionQualifiers:
    """The properties of an instruction that do not follow from its operands.

    Attributes:
        a, b: the element types.
        a_major, b_major: "k" or "mn".
        accumulator: the type of the accumulator.
        modifiers: the modifiers of `smem.mma` that are set.
    """

    a: Element
    b: Element
    a_major: str
    b_major: str
    accumulator: Accumulator
    modifiers: tuple[str, ...]

    def sign(self, role: str) -> int:
        """Return -1 if the operand "a" or "b" is negated, else 1."""
        return -1 if f"negate_{role}" in self.modifiers else 1


def qualifiers_of(op: DescriptorMma, accumulator: Accumulator) -> InstructionQualifiers:
    """Return the qualifiers of the instructions of an `smem.mma_desc`."""
    (a, a_major), (b, b_major) = operands_of(op)
    attributes = op.attributes
    modifiers = tuple(name for name in MODIFIERS if name in attributes)
    return InstructionQualifiers(a, b, a_major, b_major, accumulator, modifiers)


def operands_of(op: DescriptorMma) -> list[tuple[Element, str]]:
    """Return the element type and the majorness ("k" or "mn") of A and of B of an `smem.mma_desc`."""
    return [
        (element(op.a_element.value), op.a_major.value),
        (element(op.b_element.value), op.b_major.value),
    ]


def split_scale_d(accumulator: Value | None) -> tuple[Any, Any]:
    """Return the accumulator without `smem.scale_d`, and its condition (i1) if it has one."""
    owner = None if accumulator is None else accumulator.owner
    if not isinstance(owner, ScaleDOp):
        return accumulator, None
    return owner.accumulator, owner.keep


def check_operands(op: DescriptorMma, arch: Arch) -> None:
    """Check that an architecture multiplies the operands of an `smem.mma_desc`.

    Raises:
        OpError: if it does not.
    """
    operands = operands_of(op)
    (a, _), (b, _) = operands
    check_mma_support(op, a, b, arch)
    if "a_second_chunks" in op.attributes and not arch.has_absolute_lbo:
        archs = ", ".join(str(able) for able in Arch if able.has_absolute_lbo)
        raise OpError(
            op, f"reads {LONG_K_BYTES} bytes along K, which {arch} does not; {archs} does"
        )
    for letter, (type_, major) in zip("ab", operands, strict=True):
        if not arch.swizzles_of(type_, Major(major)):
            raise OpError(
                op,
                f"has {letter}_major = '{major}', but {arch.instructions} reads {type_} K-major only",
            )


class TileDescriptors:
    """Descriptors of MMA tiles: one add for each, shared by the mma of a basic block."""

    def __init__(self) -> None:
        self._constants: dict[tuple[Op, int], Value] = {}
        self._sums: dict[tuple[Value, Block, int], Value] = {}

    def of_mma_tiles(self, op: DescriptorMma, operand: str, function: Op) -> list[Value]:
        """Return the descriptor of each MMA tile of operand "a" or "b" of an `smem.mma_desc`."""
        value, bases = getattr(op, operand), bases_of(op, operand)
        steps = list(op.attributes[f"{operand}_steps"])
        if bases is None:
            return [self.advance(value, step, op, function) for step in steps]
        elements = _elements(value)
        op.operands["ab".index(operand)] = elements[0]
        if not list(value.uses):
            value.owner.operation.erase()
        return [
            self.advance(elements[base], step, op, function)
            for base, step in zip(bases, steps, strict=True)
        ]

    def of_a(self, op: DescriptorMma, registers: AccumulatorRegisters, function: Op) -> list[Value]:
        """Return the descriptor of each MMA tile of an A in shared memory.

        Raises:
            OpError: if the MMA tiles do not have the rows of the instructions.
        """
        down = len(registers.instructions) // registers.across
        count, needed = len(op.a_steps), down * registers.k_blocks(op)
        if count != needed:
            raise OpError(
                op,
                f"has {count} a_steps; expected {needed} for instructions of {registers.rows} rows: "
                "smem-materialize-descriptors was run for another architecture",
            )
        return self.of_mma_tiles(op, "a", function)

    def advance(self, descriptor: Value, step: int, user: DescriptorMma, function: Op) -> Value:
        """Return `descriptor + step` for an op `user`; the descriptor itself if the step is 0."""
        if step == 0:
            return descriptor
        key = (descriptor, user.operation.block, step)
        if key not in self._sums:
            self._sums[key] = ir.Operation.create(
                "arith.addi",
                results=[descriptor.type],
                operands=[descriptor, self._constant(function, step)],
            ).result
        return self._sums[key]

    def _constant(self, function: Op, number: int) -> Value:
        """Return a constant at the entry of the function; it is emitted once."""
        key = (function, number)
        if key not in self._constants:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                self._constants[key] = emit.constant(number, emit.i64())
        return self._constants[key]


def _elements(vector: Value) -> list[Value]:
    """Return the elements of a vector of descriptors; the operands if it is a `vector.from_elements`."""
    owner = vector.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "vector.from_elements":
        return list(owner.operation.operands)
    return [emit.extract_element(vector, i) for i in range(vector.type.shape[0])]
