"""The interface that an instruction set implements for `smem-lower-mma`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Type
from ...dialect.slices import slice_dim
from ...dialect.types import check_fragment, is_accumulator, shape_of
from ...ir.errors import OpError
from ...ir.lowerings import Lowerings
from ...layout.arch import Arch
from ...layout.fragments import FRAGMENT_M
from .named_barriers import NamedBarriers
from .registers import Registers, registers_of, words_type
from .slices import SliceRegisters, slice_registers
from .tile_descriptors import TileDescriptors
from .typed import TypedOp


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

    def check(self, ops: Sequence[Op], memories: Sequence[Op]) -> None:
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

    def prepare(self, memories: Sequence[Op]) -> None:
        """Emit the code before the first instruction of each kernel."""

    def register_type(self, fragment: Type) -> Type:
        """Return the LLVM type that replaces a fragment type."""
        if is_accumulator(fragment):
            return self.registers(fragment).type
        if slice_dim(fragment) is not None:
            return self.slice_registers(fragment).type
        return words_type(fragment)

    def registers(self, fragment: Type) -> Registers:
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
        # What a thread holds of the columns does not depend on the rows of an instruction.
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
        known = ", ".join(_TARGETS)
        raise Invalid(f"has no lowering to {arch.isa.name}, which {arch} has; there are {known}")
    return _TARGETS[arch.isa.name](arch)
