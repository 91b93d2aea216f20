"""How an instruction set computes mma: what it implements to be lowered to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...dialect.diagnostics import Invalid
from ...dialect.types import check_fragment, is_accumulator, shape_of
from ...ir.errors import OpError
from ...ir.lowerings import Lowerings
from ...layout.arch import Arch
from .registers import Registers, registers_of, words_type
from .steps import Steps
from .typed import TypedOp


class MmaTarget:
    """An instruction set as `smem-lower-mma` lowers to it; one is made for each run of the pass.

    A subclass is found by the name of its instruction set. Those of this project have a folder of
    `lower_mma/` each; others are registered by being defined.

    Attributes:
        isa: the name of the instruction set (`MmaIsa.name`).
        lowerings: the ops that it lowers in its own way: mma, waits, what else it keeps elsewhere than in
            registers. They are called with a `TypedOp` and the target, and give the value that takes the
            place of the op's result.
    """

    isa: ClassVar[str]
    lowerings: ClassVar[Lowerings]

    def __init__(self, arch: Arch) -> None:
        self.arch = arch
        #: The descriptors of instructions made so far.
        self.steps = Steps()

    def __init_subclass__(cls) -> None:
        _TARGETS[cls.isa] = cls

    def check(self, ops: Sequence[Any], memories: Sequence[Any]) -> None:
        """Checks that accumulators have what they need beside registers.

        Args:
            ops: the ops on fragments.
            memories: the `smem.tensor_memory` of their functions.

        Raises:
            OpError: for the first op that has not, or has what nothing uses.
        """
        for op in memories:
            raise OpError(op, f"allocates tensor memory, which {self.arch} has not")

    def note(self, ops: Sequence[TypedOp]) -> None:
        """Notes what must be known of ops before types are converted and any op is lowered."""

    def prepare(self, memories: Sequence[Any]) -> None:
        """Emits what comes before the first instruction of each kernel."""

    def register_type(self, fragment: Any) -> Any:
        """The LLVM type of what stands for a fragment of that type."""
        return self.registers(fragment).type if is_accumulator(fragment) else words_type(fragment)

    def registers(self, fragment: Any) -> Registers:
        """The registers of an accumulator of that type, once it is in registers.

        Raises:
            Invalid: if none can hold it.
        """
        check_fragment(fragment)
        return registers_of(fragment, self.rows(shape_of(fragment)[0]))

    def rows(self, m: int) -> int:
        """Rows of D of each instruction of a product of M rows."""
        return self.arch.isa.rows(m)


_TARGETS: dict[str, type[MmaTarget]] = {}


def target_of(arch: Arch) -> MmaTarget:
    """What to lower to for an architecture.

    Raises:
        Invalid: if nobody has registered how.
    """
    if arch.isa.name not in _TARGETS:
        known = ", ".join(_TARGETS)
        raise Invalid(f"has no lowering to {arch.isa.name}, which {arch} has; there are {known}")
    return _TARGETS[arch.isa.name](arch)
