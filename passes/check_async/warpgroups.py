"""Warpgroups that execute one op must write different bytes."""

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Op, Value
from ...dialect.effects import Scope
from ...dialect.op import SmemOp
from ...dialect.ops import PartitionOp
from ...dialect.smem import Smem
from ...ir.errors import OpError
from ...ir.kernel import ancestors_of, threads_of
from ...ir.walk import walk
from ...layout.fragments import WARPGROUP
from ..order.declared_effects import accessed_tiles
from ..order.report import at
from .extents import Extent, subtile_of
from .polynomials import Divergence, Polynomial
from .values import Values


def check_warpgroups(function: Op) -> None:
    """Check ops by which each warpgroup of a CTA writes what it holds; remarks state what is not proven.

    Ops in partitions, whose warpgroups have numbers, are checked by `pipelines`.

    Raises:
        OpError: if they write the same bytes.
    """
    threads = threads_of(function)
    if threads is None or threads <= WARPGROUP:
        return
    values = Values(function)
    count = threads // WARPGROUP
    for op in walk(function, *filter(_writes_by_warpgroup, Smem.operations)):
        outer = list(ancestors_of(op))
        if any(isinstance(each.opview, PartitionOp) for each in outer):
            continue
        for tile, access in accessed_tiles(op):
            if access.writes:
                _check(op, tile, values, count, [each.name for each in outer])


def _writes_by_warpgroup(op: type[SmemOp]) -> bool:
    effects = op.effects
    return effects.scope is Scope.WARPGROUP and any(access.writes for access in effects.accesses)


def _check(op: Op, tile: Value, values: Values, count: int, outer: list[str]) -> None:
    allocation, _, extents = subtile_of(tile, op, values)
    if any(_is_disjoint(extent, values) for extent in extents):
        return
    same = all(
        extent.start is not None and extent.start.divergence <= Divergence.BETWEEN_CTAS
        for extent in extents
    )
    if same and not {"scf.if", "scf.while", "scf.index_switch"} & set(outer):
        raise OpError(
            op,
            f"is executed by {count} warpgroups, which write the same bytes of the {at(allocation)} at "
            "the same time; give each a different subtile with smem.subtile, or let only one execute it",
        )
    remark(
        op.location,
        f"cannot prove that the {count} warpgroups that execute it write different bytes of the "
        f"{at(allocation)}; begin the subtile at a multiple of gpu.thread_id x / {WARPGROUP}",
    )


def _is_disjoint(extent: Extent, values: Values) -> bool:
    """Whether the extents of any two warpgroups are disjoint."""
    start = extent.start or Polynomial()
    return any(
        extent.is_disjoint_between(extent, s) for s in start.symbols if values.is_warpgroup(s)
    )
