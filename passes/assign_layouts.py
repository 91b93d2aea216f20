"""`smem-assign-layouts`: give every tile a layout that all of its uses accept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..bindings.diagnostics import Invalid, format_location, remark
from ..bindings.irtypes import Module, Op, Value
from ..bindings.mlir import ir
from ..dialect.op import operand_names
from ..dialect.ops import AllocationOp, AllocOp, SubviewOp, TileMma, ViewOp
from ..dialect.ops.copy import AnyCopy, check_copy
from ..dialect.ops.memory import check_offset
from ..dialect.ops.mma_rules import operand_element
from ..dialect.types import TileType, layout_of, shape_of, tile_element, with_layout
from ..dialect.uses import OtherEnd, Path
from ..ir.cluster import ctas_along
from ..ir.errors import OpError
from ..ir.kernel import function_of, threads_of
from ..ir.mma_support import check_mma_support
from ..ir.subtiles import INSTEAD_OF_TILES, chain_of, is_transposed, subtile_from
from ..ir.view_memory import Memory, declaration_of, memory_of
from ..ir.walk import gather
from ..layout import LayoutError, Swizzle, TileLayout, choose
from ..layout.arch import Arch
from ..layout.choice import evaluate
from ..layout.uses import MemoryUse, Use
from .driver.base import Pass, option


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
        uses = _uses_of(allocation, self.max_swizzle, self.arch)
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


#: Threads for which bank conflicts of a copy are predicted if the size of the CTA is unknown.
_USUAL_THREADS = 128


def _uses_of(allocation: AllocationOp, max_swizzle: Swizzle, arch: Arch) -> list[Use]:
    """Return the uses of the tile of an alloc or view, and of its subtiles.

    Args:
        allocation: the alloc or view.
        max_swizzle: the widest swizzle that other tiles, which it is copied from or to, can get.
        arch: the architecture; it supports the element types of every mma.

    Raises:
        OpError: if an op uses the tile from which no layout follows.
    """
    return _Uses(allocation, max_swizzle, arch).all()


class _Uses:
    """The uses of the tile of an allocation; uses with the same requirement are one.

    A copy from or to a tile without a layout requires what the other uses of that tile allow. With
    `deep=False`, such copies are not followed.
    """

    def __init__(
        self, allocation: AllocationOp, max_swizzle: Swizzle, arch: Arch, deep: bool = True
    ) -> None:
        self.arch = arch
        self._allocation, self._max_swizzle, self._deep = allocation, max_swizzle, deep

    def all(self) -> list[Use]:
        """Return the uses of the allocation's tile; for a view, its memory is one."""
        tile_uses = self._of(self._allocation.tile, ()).values()
        return [*_memory_uses(self._allocation), *tile_uses]

    def _of(self, value: Value, path: Path) -> dict[Any, Use]:
        """Return the uses of the subtile at the end of a path, by what they require."""
        # Subtiles of subtiles are followed without recursion: there may be thousands.
        stack: list[tuple[Iterator[Any], Path, dict[Any, Use]]] = [
            (iter(list(value.uses)), path, {})
        ]
        while True:
            uses, path, by_requirement = stack[-1]
            subtile = None
            for tile_use in uses:
                op = tile_use.owner
                if isinstance(op, SubviewOp):
                    subtile = op
                    break
                if (use := self._use(op, tile_use.operand_number, path)) is not None:
                    by_requirement[_requirement(use)] = use
            if subtile is not None:
                stack.append((iter(list(subtile.result.uses)), (*path, subtile.path_element), {}))
                continue
            stack.pop()
            if not stack:
                return by_requirement
            uses, path, outer = stack[-1]
            stack[-1] = uses, path, {**by_requirement, **outer}

    def _use(self, op: Op, operand: int, path: Path) -> Use | None:
        """Return what an op requires of the layout of its operand; None if it requires nothing.

        Raises:
            OpError: if the op is not one that takes tiles.
        """
        if not hasattr(op, "use_of"):
            where = f"'{op.operation.name}' at {format_location(op.location)}"
            if _forwards(op):
                raise OpError(self._allocation, f"is forwarded by {where}; {INSTEAD_OF_TILES}")
            raise OpError(
                self._allocation,
                f"is used by {where}, from which no layout follows; take its stages and subtiles where "
                "they are copied or multiplied",
            )
        try:
            return op.use_of(operand_names(type(op))[operand], path, self)
        except Invalid as error:
            raise OpError(op, str(error)) from None

    # Methods that the ops call; see `dialect.uses.Chooser`.

    def threads(self, op: Op) -> int:
        """Return the number of threads of the CTA that executes an op."""
        return threads_of(function_of(op)) or _USUAL_THREADS

    def ctas_along(self, op: Op, dim: str | None) -> int:
        """Return the number of CTAs of the cluster along a dimension."""
        return ctas_along(op, dim)

    def other_end(self, op: Op, tile: Value) -> OtherEnd | None:
        """Return what is known of the tile at the other end of a copy."""
        allocation, chain = chain_of(tile, op)
        if layout_of(allocation.tile.type) is not None:
            return OtherEnd(subtile_from(tile, op).slice.layout)
        if not self._deep:
            return None
        directions = self._directions(allocation)
        return OtherEnd(
            None, [1 - dim for dim in directions] if is_transposed(chain) else directions
        )

    def _directions(self, allocation: AllocationOp) -> list[int]:
        """Return the dimensions (0 for rows) along which a tile without a layout can be contiguous.

        Copies from and to other tiles without a layout are not considered.
        """
        type_ = allocation.tile.type
        uses = _Uses(allocation, self._max_swizzle, self.arch, deep=False).all()
        return [
            dim
            for dim in (0, 1)
            if choose(
                tile_element(type_),
                shape_of(type_),
                uses,
                self._max_swizzle,
                dim,
                exhaustive=False,
                swizzles=self.arch.swizzles,
            ).picked
        ]


def _requirement(use: Use) -> tuple[Any, ...]:
    """Return what a use requires: all fields but `what`, which names the user."""
    return type(use), *(value for name, value in vars(use).items() if name != "what")


def _forwards(op: Op) -> bool:
    """Return whether an op of another dialect forwards the tile that it takes.

    It may return the tile or, if it is a terminator, pass it to another block or op.
    """
    operation = op.operation
    terminates = len(operation.successors) or operation.name.endswith((".yield", ".condition"))
    return bool(terminates) or any(
        isinstance(result.type, TileType) for result in operation.results
    )


def _memory_uses(allocation: AllocationOp) -> list[MemoryUse]:
    """Return the memory of a view without a layout, as a use; an empty list for other ops.

    The verifier of the view checks a layout in its type.

    Raises:
        OpError: if nothing is known of the alignment of the memory.
    """
    if not isinstance(allocation, ViewOp) or layout_of(allocation.tile.type) is not None:
        return []
    description = f"the memory {allocation.memref.type}"
    return [MemoryUse(description, allocation.memref_bytes, _alignment(allocation))]


def _alignment(view: ViewOp) -> int | None:
    """Return a number that divides the address of a view's memory, in bytes.

    None means that `smem-allocate` aligns the memory as the layout needs.
    """
    asserted = view.asserted_alignment
    if asserted is not None:
        return asserted
    memory = memory_of(view.memref)
    if memory.shift is None or declaration_of(memory, function_of(view)) is None:
        raise OpError(
            view,
            f"has #smem.auto over {view.memref.type}, {_origin(memory)}, whose alignment is not known; "
            "give alignment = N : i64, in bytes: 1024 allows every swizzle, 16 none",
        )
    return memory.shift & -memory.shift or None


def _origin(memory: Memory) -> str:
    """Describe a memory of unknown alignment."""
    owner = memory.base.owner
    if isinstance(owner, ir.Block):
        base = f"an argument of '{owner.owner.operation.name}'"
    else:
        where = format_location(owner.location)
        base = f"the result of '{owner.operation.name}' at {where}"
    return base if memory.shift is not None else f"at a run-time offset in {base}"
