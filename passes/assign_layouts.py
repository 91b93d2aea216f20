"""`smem-assign-layouts`: every tile gets a layout that all of its uses accept."""

from dataclasses import dataclass
from typing import Any

from ..dialect.diagnostics import Invalid, format_location, remark
from ..dialect.ops import part_of, starts_of
from ..dialect.ops.copy import transfer_of
from ..dialect.ops.mma import PRODUCTS, extras_of
from ..dialect.ops.tma import matrix_contiguous, multicast_of
from ..dialect.types import is_multiplicand, layout_of, shape_of, tile_element, with_layout
from ..layout import (
    LayoutError,
    OperandUse,
    Relayout,
    Role,
    Step,
    Swizzle,
    TileLayout,
    Transfer,
    TransferUse,
    choose,
)
from ..layout.choice import BulkUse, FragmentUse, Use, judge
from ..layout.fragment_access import accumulator_access, multiplicand_access
from .base import OpError, Pass, option
from .cluster import blocks_along
from .kernel import function_of, threads_of, walk
from .parts import PARTS, ROOTS

#: Threads that a copy's bank conflicts are predicted for where the block's size is not known.
_USUAL_THREADS = 128


@dataclass(frozen=True)
class AssignLayouts(Pass):
    """Chooses the layouts that are left to it, and checks those that are given."""

    name = "smem-assign-layouts"
    description = "choose a canonical layout and swizzle for each tile, or check the one it has"

    max_swizzle: Swizzle = option(Swizzle.B128, "the widest swizzle to choose, in bytes")
    explain: bool = option(False, "print each tile's candidates and verdicts as remarks")

    def run(self, module: Any) -> None:
        for root in walk(module, *ROOTS):
            self._assign(root)

    def _assign(self, root: Any) -> None:
        value = root.results[0]
        uses = list(_uses(value, (), root).values())
        given = layout_of(value.type)
        layout = self._check(root, given, uses) if given else self._choose(root, uses)
        try:
            _set_layout(value, layout)
        except Invalid as error:
            raise OpError(root, str(error)) from None

    def _check(self, root: Any, given: TileLayout, uses: list[Use]) -> TileLayout:
        verdict = judge(given, uses)
        if not verdict.accepted:
            raise OpError(root, f"has the layout {given}, which cannot be: {verdict.objection}")
        if self.explain:
            said = "".join(f"\n  {who}: {v.reason}" for who, v in verdict.verdicts)
            remark(root.location, f"layout {given} was given{said}")
        return given

    def _choose(self, root: Any, uses: list[Use]) -> TileLayout:
        type_ = root.results[0].type
        choice = choose(
            tile_element(type_), shape_of(type_), uses, self.max_swizzle, exhaustive=self.explain
        )
        why = "\n  ".join(choice.explain().splitlines())
        if choice.picked is None:
            raise OpError(root, f"has no layout that all its uses accept\n  {why}")
        if self.explain:
            remark(root.location, f"layout {choice.picked.layout} was chosen\n  {why}")
        return choice.picked.layout


def _uses(value: Any, path: tuple[Step, ...], root: Any) -> dict[Any, Use]:
    """What is done with a tile and its parts; uses that ask the same of a layout are one."""
    found: dict[Any, Use] = {}
    for use in value.uses:
        op = use.owner
        name = op.operation.name
        if name in PARTS:
            starts = starts_of(op)
            sizes = None if name == "smem.stage" else shape_of(op.results[0].type)
            inner = _uses(op.results[0], (*path, Step(starts, sizes)), root)
            found = {**inner, **found}
        elif name in PRODUCTS:
            role = (Role.A, Role.B)[use.operand_number]
            what = f"{role.name} of the mma at {format_location(op.location)}"
            sparse = extras_of(op).metadata is not None
            found[role, sparse, path] = OperandUse(what, role, path, sparse)
        elif name in ("smem.load", "smem.store"):
            to_a = name == "smem.load" and is_multiplicand(op.results[0].type)
            access = multiplicand_access if to_a else accumulator_access
            what = f"the {name.removeprefix('smem.')} at {format_location(op.location)}"
            found[access, path] = FragmentUse(what, access, path)
        elif name in ("smem.copy", "smem.copy_async"):
            found[_transfer(op), path] = TransferUse(
                f"the copy at {format_location(op.location)}", _transfer(op), path
            )
        elif name in ("smem.tma_load", "smem.tma_store"):
            load = name == "smem.tma_load"
            memref = op.operands[0 if load else 1].type
            blocks = blocks_along(op, multicast_of(op)) if load else 1
            contiguous = matrix_contiguous(memref) - (memref.rank - 2)
            what = f"the {name.removeprefix('smem.')} at {format_location(op.location)}"
            found[name, contiguous, blocks, path] = BulkUse(what, contiguous, blocks, path)
        else:
            raise OpError(
                root,
                f"is used by '{name}' at {format_location(op.location)}, of which no layout follows; "
                "take its stages and subtiles where they are copied or multiplied",
            )
    return found


def _transfer(copy: Any) -> Transfer | Relayout:
    try:
        return transfer_of(copy, threads_of(function_of(copy)) or _USUAL_THREADS)
    except Invalid as error:
        raise OpError(copy, str(error)) from None


def _set_layout(value: Any, layout: TileLayout) -> None:
    """Gives a tile its layout, and its parts theirs."""
    value.set_type(with_layout(value.type, layout))
    for use in value.uses:
        if use.owner.operation.name in PARTS:
            try:
                part = part_of(use.owner, layout)
            except LayoutError as error:
                # No use of the part has objected, because it has none.
                raise OpError(use.owner, str(error)) from None
            _set_layout(use.owner.results[0], part.layout)
