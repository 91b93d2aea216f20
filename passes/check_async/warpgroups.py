"""Warpgroups that execute one op: whether each writes bytes of its own."""

from typing import Any

from ...dialect.diagnostics import remark
from ...dialect.effects import Scope
from ...dialect.ops import PartitionOp
from ...dialect.smem import Smem
from ...ir.errors import OpError
from ...ir.kernel import around, threads_of
from ...ir.walk import walk
from ...layout.fragments import WARPGROUP
from .declared import accessed_tiles
from .extents import Extent, subtile_of
from .polynomials import Polynomial, Spread
from .report import at
from .values import Values


def check_warpgroups(function: Any) -> None:
    """Checks what all warpgroups of a block write by one op, each what it holds; what is not known is
    said in remarks. Partitions say of themselves which warpgroups they are.

    Raises:
        OpError: if they write the same bytes.
    """
    threads = threads_of(function)
    if threads is None or threads <= WARPGROUP:
        return
    values = Values(function)
    count = threads // WARPGROUP
    for op in walk(function, *filter(_writes_by_warpgroup, Smem.operations)):
        outer = list(around(op))
        if any(isinstance(each.opview, PartitionOp) for each in outer):
            continue
        for tile, access in accessed_tiles(op):
            if access.writes:
                _check(op, tile, values, count, [each.name for each in outer])


def _writes_by_warpgroup(op: Any) -> bool:
    effects = op.effects
    return effects.scope is Scope.WARPGROUP and any(access.writes for access in effects.accesses)


def _check(op: Any, tile: Any, values: Values, count: int, outer: list[str]) -> None:
    allocation, _, extents = subtile_of(tile, op, values)
    if any(_is_apart(extent, values) for extent in extents):
        return
    same = all(
        extent.start is not None and extent.start.spread <= Spread.BLOCK for extent in extents
    )
    if same and not {"scf.if", "scf.while", "scf.index_switch"} & set(outer):
        raise OpError(
            op,
            f"is executed by {count} warpgroups, which write the same bytes of the {at(allocation)} at the "
            "same time; give each a part of its own with smem.subtile, or let one execute it",
        )
    remark(
        op.location,
        f"cannot prove that the {count} warpgroups that execute it write different bytes of the "
        f"{at(allocation)}; begin the part at a multiple of gpu.thread_id x / {WARPGROUP}",
    )


def _is_apart(extent: Extent, values: Values) -> bool:
    """Whether no two warpgroups have any of it in common."""
    form = extent.start or Polynomial()
    return any(extent.subtiles_from(extent, s) for s in form.symbols if values.is_warpgroup(s))
