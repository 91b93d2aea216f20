"""`smem-assign-layouts`: give every tile a layout that all of its uses accept."""

from dataclasses import dataclass

from ...bindings.diagnostics import Invalid, remark
from ...bindings.irtypes import Module, Value
from ...dialect.ops import AllocationOp, AllocOp, SubviewOp, TileMma
from ...dialect.ops.copy import AnyCopy, check_copy
from ...dialect.ops.memory import check_offset
from ...dialect.ops.mma_rules import operand_element
from ...dialect.types import TileType, layout_of, shape_of, tile_element, with_layout
from ...ir.errors import OpError
from ...ir.mma_support import check_mma_support
from ...ir.walk import gather
from ...layout import LayoutError, Swizzle, TileLayout, choose
from ...layout.arch import Arch
from ...layout.choice import evaluate
from ...layout.uses import Use
from ..driver.base import Pass, option
from .tile_uses import uses_of


@dataclass(frozen=True)
class AssignLayouts(Pass):
    """Chooses a layout for each tile that has none, and checks the layouts that are given."""

    name = "smem-assign-layouts"
    description = "choose a canonical layout and swizzle for each tile, or check the one it has"

    arch: Arch = option(Arch.SM_90, "the architecture: sm_90, sm_100 or sm_103")
    max_swizzle: Swizzle = option(Swizzle.B128, "the widest swizzle to choose, in bytes")
    explain: bool = option(False, "print each tile's candidates and evaluations as remarks")

    def run(self, module: Module) -> None:
        allocations, mmas, copies = gather(module, [AllocationOp], [TileMma], [AnyCopy])
        for mma in mmas:
            a, b = operand_element(mma.a.type), operand_element(mma.b.type)
            check_mma_support(mma, a, b, self.arch)
        for allocation in allocations:
            self._assign(allocation)
        for copy in copies:
            if isinstance(copy.source.type, TileType):
                _check_tile_copy(copy)

    def _assign(self, allocation: AllocationOp) -> None:
        uses = uses_of(allocation, self.max_swizzle, self.arch)
        layout = layout_of(allocation.tile.type)
        if layout:
            self._check(allocation, layout, uses)
        else:
            layout = self._choose(allocation, uses)
        try:
            if isinstance(allocation, AllocOp):
                check_offset(allocation, layout.alignment, layout.size_bytes)
            _set_layout(allocation.tile, layout)
        except Invalid as error:
            raise OpError(allocation, str(error)) from None

    def _check(self, allocation: AllocationOp, layout: TileLayout, uses: list[Use]) -> None:
        if layout.swizzle not in self.arch.swizzles:
            archs = ", ".join(str(arch) for arch in Arch if layout.swizzle in arch.swizzles)
            raise OpError(
                allocation,
                f"has the layout {layout}, but {self.arch} has no swizzle {layout.swizzle}; {archs} have",
            )
        evaluation = evaluate(layout, uses)
        if not evaluation.is_accepted:
            raise OpError(
                allocation, f"has the layout {layout}, which a use rejects: {evaluation.refusal}"
            )
        if self.explain:
            reasons = "".join(
                f"\n  {use}: {verdict.reason}" for use, verdict in evaluation.evaluations
            )
            remark(allocation.location, f"layout {layout} was given, and fits {self.arch}{reasons}")

    def _choose(self, allocation: AllocationOp, uses: list[Use]) -> TileLayout:
        type_ = allocation.tile.type
        element, shape = tile_element(type_), shape_of(type_)
        choice = choose(
            element,
            shape,
            uses,
            self.max_swizzle,
            exhaustive=self.explain,
            swizzles=self.arch.swizzles,
        )
        why = "\n  ".join(choice.explain().splitlines())
        if choice.picked is None:
            raise OpError(
                allocation, f"has no layout that all its uses accept on {self.arch}\n  {why}"
            )
        if self.explain:
            remark(
                allocation.location,
                f"layout {choice.picked.layout} was chosen for {self.arch}\n  {why}",
            )
        return choice.picked.layout


def _check_tile_copy(copy: AnyCopy) -> None:
    """Check a copy between tiles, which both have layouts now."""
    try:
        check_copy(copy)
    except Invalid as error:
        raise OpError(copy, str(error)) from None


def _set_layout(tile: Value, layout: TileLayout) -> None:
    """Set the layout of a tile, and the layouts of its subtiles that follow from it."""
    tiles = [(tile, layout)]
    while tiles:
        value, tile_layout = tiles.pop()
        value.set_type(with_layout(value.type, tile_layout))
        for op in (use.owner for use in value.uses):
            if isinstance(op, SubviewOp):
                try:
                    tiles.append((op.result, op.slice_of(tile_layout).layout))
                except LayoutError as error:
                    # A subtile without uses has not been checked before.
                    raise OpError(op, str(error)) from None
