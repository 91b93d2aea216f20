"""`smem-place-accumulators`: on tcgen05, allocate tensor memory for accumulators in flight."""

from dataclasses import dataclass

from ..bindings.diagnostics import format_location
from ..bindings.irtypes import Module, Op
from ..bindings.mlir import ir
from ..dialect.ops import FillOp, TensorMemoryOp, TileMma, WaitOp
from ..dialect.ops.tensor_memory import LEAST_DEPTH, MAX_COLUMNS, MOST_DEPTH, tensor_memory
from ..dialect.types import is_in_flight
from ..ir.cluster import check_clusters
from ..ir.errors import OpError
from ..ir.kernel import function_of, warpgroups_of
from ..ir.tensor_memory import columns_needed, columns_of, needed_by, scale_columns
from ..ir.walk import gather
from .driver.base import Pass


@dataclass(frozen=True)
class PlaceAccumulators(Pass):
    """Allocates columns of tensor memory in each kernel.

    Each op that makes an accumulator gets a set of columns for each warpgroup.
    """

    name = "smem-place-accumulators"
    description = "allocate the tensor memory that accumulators of tcgen05 are in"

    def run(self, module: Module) -> None:
        functions: dict[Op, list[Op]] = {}
        makers, waits, existing = gather(module, [TileMma, FillOp], [WaitOp], [TensorMemoryOp])
        # A wait for all but `pending` mma is executed while one more may be in flight.
        depths: dict[Op, int] = {}
        for op in waits:
            function, pending = function_of(op), op.pending.value
            depths[function] = max(depths.get(function, LEAST_DEPTH), pending + 1)
        for op in makers:
            if is_in_flight(op.results[0].type):
                functions.setdefault(function_of(op), []).append(op)
        for op in existing:
            functions.pop(function_of(op), None)
        for function, ops in functions.items():
            depth = 1 << (depths.get(function, LEAST_DEPTH) - 1).bit_length()
            _place(function, ops, min(depth, MOST_DEPTH))


def _place(function: Op, makers: list[Op], depth: int) -> None:
    """Insert an `smem.tensor_memory` at the top of a function.

    Args:
        function: the function.
        makers: the ops that make its accumulators in flight.
        depth: how many of its mma can be in flight.
    """
    ops = [op for op in makers if needed_by(op)]
    if not ops:
        raise OpError(
            function, "passes an accumulator in flight; on tcgen05 its kernel makes each itself"
        )
    spans = [warpgroups_of(op) for op in ops]
    first, end = min(first for first, _ in spans), max(end for _, end in spans)
    warpgroups = end - first
    accumulators = [(type_, op) for op in ops for type_ in needed_by(op)]
    scaling, total = max(makers, key=scale_columns), columns_needed(makers)
    if total * warpgroups > MAX_COLUMNS:
        breakdown = "".join(
            f"\n  {columns_of(type_)} columns: {type_} at {format_location(op.location)}"
            for type_, op in accumulators
        )
        if scale_columns(scaling):
            where = format_location(scaling.location)
            breakdown += (
                f"\n  {scale_columns(scaling)} columns: scale factors of the mma at {where}"
            )
        raise OpError(
            function,
            f"needs {total} columns of tensor memory for each of {warpgroups} warpgroups, but a CTA "
            f"has {MAX_COLUMNS}{breakdown}",
        )
    entry = function.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(entry), function.location:
        tensor_memory(total, warpgroups, first, depth, _is_paired(function, makers))


def _is_paired(function: Op, makers: list[Op]) -> bool:
    """Return whether the mma of a function are executed by CTA pairs.

    Raises:
        OpError: if some mma are and others are not, or if the clusters cannot be divided into pairs.
    """
    by_ctas = {op.ctas: op for op in makers if isinstance(op, TileMma)}
    if 2 not in by_ctas:
        return False
    pair = by_ctas[2]
    if 1 in by_ctas:
        raise OpError(
            pair,
            f"has pair, but the mma at {format_location(by_ctas[1].location)} has no pair; "
            "all instructions of a kernel have the same .cta_group",
        )
    check_clusters(pair)
    return True
