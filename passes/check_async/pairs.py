"""Kernels whose blocks multiply in pairs: one instruction reads both, so both must come to it alike."""

from collections.abc import Iterator
from typing import Any

from ...dialect.diagnostics import remark
from ...dialect.ops import (
    ConsumerWaitOp,
    PartitionOp,
    ProducerAcquireOp,
    ScaleDOp,
    StageOp,
    SubviewOp,
    TileMma,
    ViewOp,
    WarpSpecializeOp,
)
from ...dialect.types import is_in_flight
from ...ir.errors import OpError
from ...ir.kernel import around
from ...ir.subtiles import chain_of
from ...ir.walk import walk
from .declared import accessed_tiles
from .memory import starts_of
from .polynomials import Polynomial, number
from .report import at
from .values import Values

#: Ops around a product by which threads go ways of their own, those of the same number in both blocks
#: the same.
_PARTITIONS = (WarpSpecializeOp, PartitionOp)

#: Ops that wait for a step of a pipeline, and give its stage.
_STEPS = (ConsumerWaitOp, ProducerAcquireOp)


def check_pairs(function: Any) -> None:
    """Checks that the blocks of each pair execute the same products, on the same places of their shared
    memories; what is not known is said in remarks.

    Raises:
        OpError: if a product reads other places in one than in the other.
    """
    products = [op for op in walk(function, TileMma) if op.ctas > 1]
    if not products:
        return
    values = Values(function)
    unknown: dict[tuple[Any, str], None] = {}
    for op in products:
        for tile, _ in accessed_tiles(op):
            unknown |= dict.fromkeys(_places(values, op, tile))
    for op in walk(function, ScaleDOp):
        if not values.of(op.keep).alike:
            unknown[op, "it is not known whether both keep the accumulator"] = None
    unknown |= dict.fromkeys(_ways(values, function, products))
    for op, reason in unknown:
        remark(op.location, f"cannot prove that both blocks of a pair multiply the same: {reason}")


def _places(values: Values, op: Any, tile: Any) -> Iterator[tuple[Any, str]]:
    """What is not known of the place of a tile."""
    allocation, chain = chain_of(tile, op)
    starts = [start for subtile in chain for start in _starts(values, subtile)]
    if any(values.differs_in_pair(start) for start in starts):
        raise OpError(
            op,
            f"reads another part of the {at(allocation)} in each block of a pair; one instruction reads both "
            "blocks at the same place, so have each copy what it multiplies there",
        )
    if isinstance(allocation, ViewOp):
        yield op, f"it is not known whether the {at(allocation)} shows the same place in both"
    elif not all(start.alike for start in starts):
        yield op, f"it is not known whether it reads the same part of the {at(allocation)} in both"


def _starts(values: Values, subtile: SubviewOp) -> list[Polynomial]:
    """Where a part begins in its tile; of a pipeline's stage, the step."""
    if isinstance(subtile, StageOp) and isinstance(subtile.index.owner, _STEPS):
        return [values.of(subtile.index.owner.step)]
    return [start for _, start in starts_of(subtile, values.of, number)]


def _ways(values: Values, function: Any, products: list[Any]) -> Iterator[tuple[Any, str]]:
    """The ops by which the blocks of a pair may come to other products, or to other accumulators."""
    outer = {op: None for product in products for op in around(product)}
    for op in walk(function, "scf.for", "scf.if"):
        if any(is_in_flight(result.type) for result in op.results):
            outer[op.operation] = None
    for op in outer:
        if op.name == "scf.for":
            if not all(bound.alike for bound in values.loop(op).bounds):
                yield op, "it is not known whether both run it as often"
        elif op.name == "scf.if":
            if not values.of(op.operands[0]).alike:
                yield op, "it is not known whether both take the same branch"
        elif not isinstance(op.opview, _PARTITIONS):
            yield op, "it is not known whether both run it alike"
