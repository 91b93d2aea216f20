"""CTA pairs: one mma instruction reads the tiles of both CTAs, so both must execute the same mma."""

from collections.abc import Iterator

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Op, Value
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
from ...ir.kernel import ancestors_of
from ...ir.subtiles import chain_of
from ...ir.walk import walk
from ..order.effects import accessed_tiles
from ..order.memory import starts_of
from ..order.report import label
from .polynomials import Polynomial, number
from .values import SymbolicValues

#: Ops around an mma by which the threads of a CTA take different paths; threads of the same number take
#: the same path in both CTAs.
_PARTITIONS = (WarpSpecializeOp, PartitionOp)

#: Ops that wait for a pipeline index and return its stage.
_WAITS = (ConsumerWaitOp, ProducerAcquireOp)


def check_cta_pairs(function: Op) -> None:
    """Check that the CTAs of each pair execute the same mma, on the same addresses of shared memory.

    Remarks state what is not proven.

    Raises:
        OpError: if an mma reads different addresses in the two CTAs.
    """
    mmas = [op for op in walk(function, TileMma) if op.ctas > 1]
    if not mmas:
        return
    values = SymbolicValues(function)
    unknown: dict[tuple[Op, str], None] = {}
    for op in mmas:
        for tile, _ in accessed_tiles(op):
            unknown |= dict.fromkeys(_tile_remarks(values, op, tile))
    for op in walk(function, ScaleDOp):
        if not values.polynomial(op.keep).same_in_pair:
            unknown[op, "it is not known whether both CTAs keep the accumulator"] = None
    unknown |= dict.fromkeys(_path_remarks(values, function, mmas))
    for op, reason in unknown:
        remark(op.location, f"cannot prove that both CTAs of a pair execute the same mma: {reason}")


def _tile_remarks(values: SymbolicValues, op: Op, tile: Value) -> Iterator[tuple[Op, str]]:
    """Yield why it is not proven that both CTAs read the same subtile."""
    allocation, chain = chain_of(tile, op)
    starts = [start for subtile in chain for start in _starts(values, subtile)]
    if any(values.differs_in_pair(start) for start in starts):
        raise OpError(
            op,
            f"reads different subtiles of the {label(allocation)} in the two CTAs of a pair, but one "
            "instruction reads both CTAs at the same address; copy what each multiplies to the same "
            "subtile",
        )
    if isinstance(allocation, ViewOp):
        yield (
            op,
            f"it is not known whether the {label(allocation)} is at the same address in both CTAs",
        )
    elif not all(start.same_in_pair for start in starts):
        yield (
            op,
            f"it is not known whether it reads the same subtile of the {label(allocation)} in both CTAs",
        )


def _starts(values: SymbolicValues, subtile: SubviewOp) -> list[Polynomial]:
    """Return where a subtile begins in its tile; for a stage of a pipeline, the pipeline index."""
    if isinstance(subtile, StageOp) and isinstance(subtile.index.owner, _WAITS):
        return [values.polynomial(subtile.index.owner.index)]
    return [start for _, start in starts_of(subtile, values.polynomial, number)]


def _path_remarks(values: SymbolicValues, function: Op, mmas: list[Op]) -> Iterator[tuple[Op, str]]:
    """Yield the ops by which the CTAs of a pair may execute different mma, or use different
    accumulators."""
    outer = {op: None for mma in mmas for op in ancestors_of(mma)}
    for op in walk(function, "scf.for", "scf.if"):
        if any(is_in_flight(result.type) for result in op.results):
            outer[op.operation] = None
    for op in outer:
        if op.name == "scf.for":
            if not all(bound.same_in_pair for bound in values.loop(op).bounds):
                yield op, "it is not known whether both CTAs run the same number of iterations"
        elif op.name == "scf.if":
            if not values.polynomial(op.operands[0]).same_in_pair:
                yield op, "it is not known whether both CTAs take the same branch"
        elif not isinstance(op.opview, _PARTITIONS):
            yield op, "it is not known whether both CTAs execute it in the same way"
