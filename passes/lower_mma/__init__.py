"""`smem-lower-mma`: lower fragments to registers, and mma to instructions of the architecture."""

from dataclasses import dataclass

from ...bindings.irtypes import Module
from ...bindings.mlir import ir
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
    """Lowers mma, and all ops on fragments: conversions, elementwise functions, loads and stores. No
    fragment is left."""

    name = "smem-lower-mma"
    description = "lower mma, and what is done with fragments, to NVVM and LLVM"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")

    def run(self, module: Module) -> None:
        tile_mmas, lowered, scales, memories = gather(
            module,
            [TileMma],
            [DescriptorMma, WaitOp, *FRAGMENTS.classes],
            [ScaleDOp],
            [TensorMemoryOp],
        )
        for mma in tile_mmas:
            raise OpError(mma, "still reads tiles; run smem-materialize-descriptors before")
        for op in lowered:
            check_collective(op)
            if isinstance(op, DescriptorMma):
                check_operands(op, self.arch)
        target = target_of(self.arch)
        target.check(lowered, memories)
        ops = [TypedOp(op) for op in lowered]
        target.record(ops)
        convert_types(module, target.register_type)
        target.prepare(memories)
        for op in ops:
            _lower(op, target)
        # Already folded into the instructions that used them.
        for op in scales:
            op.operation.erase()


def _lower(typed: TypedOp, target: MmaTarget) -> None:
    """Replace an op by instructions."""
    op = typed.op
    with ir.InsertionPoint(op), op.location:
        lower = target.lowerings.find(op) or FRAGMENTS[op]
        new = lower(typed, target)
    if new is not None:
        op.results[0].replace_all_uses_with(new)
    op.operation.erase()
