"""The interface that an instruction set implements for `smem-lower-mma`, and what lowerings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Type, Value
from ...dialect.op import operand_names
from ...dialect.ops import ReduceOp
from ...dialect.slices import slice_dim
from ...dialect.types import check_fragment, is_accumulator, shape_of
from ...ir.errors import OpError
from ...ir.kernel import function_of, required_block_size
from ...ir.lowerings import Lowerings
from ...ir.named_barriers import FIRST_BARRIER, last_barriers
from ...ir.reductions import Exchange, exchange_of
from ...ir.threads import linear_thread
from ...ir.walk import walk
from ...layout.arch import Arch
from ...layout.fragments import FRAGMENT_M
from .registers import (
    AccumulatorRegisters,
    SliceRegisters,
    registers_of,
    slice_registers,
    words_type,
)
from .tile_descriptors import TileDescriptors

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
    this project have one folder each in `lower_mma/`.

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
        names = ", ".join(_TARGETS)
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
