"""`smem-lower-mma`: fragments become registers, and mma the instructions that compute them."""

from dataclasses import dataclass
from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops import DescriptorMma, ScaleDOp, TensorMemoryOp, TileMma, WaitOp
from ...ir.errors import OpError
from ...ir.kernel import check_collective
from ...ir.lowerings import load
from ...ir.walk import gather
from ...layout.arch import Arch
from ..driver.base import Pass, option
from . import fragments, tcgen05, wgmma
from .fragments.lowerings import FRAGMENTS
from .fragments.types import convert_types
from .mma_qualifiers import check_operands
from .target import MmaTarget, target_of
from .typed import TypedOp

for _room in (fragments, wgmma, tcgen05):
    load(_room.__name__, _room.__path__)


@dataclass(frozen=True)
class LowerMma(Pass):
    """Emits the architecture's instructions, computes with fragments, and moves them in and out of
    registers; no fragment is left."""

    name = "smem-lower-mma"
    description = "lower mma, and what is done with fragments, to NVVM and LLVM"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")

    def run(self, module: Any) -> None:
        products, lowered, scales, memories = gather(
            module,
            [TileMma],
            [DescriptorMma, WaitOp, *FRAGMENTS.classes],
            [ScaleDOp],
            [TensorMemoryOp],
        )
        for mma in products:
            raise OpError(mma, "still reads tiles; run smem-materialize-descriptors before")
        for op in lowered:
            check_collective(op)
            if isinstance(op, DescriptorMma):
                check_operands(op, self.arch)
        target = target_of(self.arch)
        target.check(lowered, memories)
        ops = [TypedOp(op) for op in lowered]
        target.note(ops)
        convert_types(module, target.register_type)
        target.prepare(memories)
        for op in ops:
            _lower(op, target)
        # What it says is in the instructions that used it.
        for op in scales:
            op.operation.erase()


def _lower(typed: TypedOp, target: MmaTarget) -> None:
    """Puts instructions in an op's place."""
    op = typed.op
    with ir.InsertionPoint(op), op.location:
        lower = target.lowerings.find(op) or FRAGMENTS[op]
        new = lower(typed, target)
    if new is not None:
        op.results[0].replace_all_uses_with(new)
    op.operation.erase()
