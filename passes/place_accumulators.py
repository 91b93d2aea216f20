"""`smem-place-accumulators`: on tcgen05, accumulators in flight get columns of tensor memory."""

from dataclasses import dataclass
from math import prod
from typing import Any

from ..dialect.bindings import ir
from ..dialect.diagnostics import format_location
from ..dialect.ops.mma import PRODUCTS
from ..dialect.ops.roles import role_warpgroups, roles_of
from ..dialect.ops.tensor_memory import MAX_COLUMNS, tensor_memory
from ..dialect.types import is_in_flight
from ..layout.fragments import WARPGROUP
from .accumulators import columns_of, needed_by
from .base import OpError, Pass
from .kernel import function_of, gather, required_block_size


@dataclass(frozen=True)
class PlaceAccumulators(Pass):
    """Makes room for the accumulators of each kernel: for each place in it where one begins, a set of
    columns for each warpgroup."""

    name = "smem-place-accumulators"
    description = "allocate the tensor memory that accumulators of tcgen05 are in"

    def run(self, module: Any) -> None:
        functions: dict[Any, list[Any]] = {}
        making, placed = gather(module, (*PRODUCTS, "smem.fill"), ("smem.tensor_memory",))
        for op in making:
            if is_in_flight(op.results[0].type):
                functions.setdefault(function_of(op), []).append(op)
        for op in placed:
            functions.pop(function_of(op), None)
        for function, ops in functions.items():
            _place(function, [op for op in ops if needed_by(op)])


def _place(function: Any, ops: list[Any]) -> None:
    """Puts the op at the top of a function whose accumulators begin at `ops`."""
    if not ops:
        raise OpError(
            function, "passes an accumulator in flight; on tcgen05 its kernel makes each itself"
        )
    spans = [_warpgroups(op) for op in ops]
    first, end = min(first for first, _ in spans), max(end for _, end in spans)
    warpgroups = end - first
    needed = [(type_, op) for op in ops for type_ in needed_by(op)]
    total = sum(columns_of(type_) for type_, _ in needed)
    if total * warpgroups > MAX_COLUMNS:
        holders = "".join(
            f"\n  {columns_of(type_)} columns: {type_} at {format_location(op.location)}"
            for type_, op in needed
        )
        raise OpError(
            function,
            f"needs {total} columns of tensor memory for each of {warpgroups} warpgroups, but a block "
            f"has {MAX_COLUMNS}{holders}",
        )
    entry = function.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(entry), function.location:
        tensor_memory(total, warpgroups, first)


def _warpgroups(op: Any) -> tuple[int, int]:
    """The warpgroups that execute an op: those of its role, or all of the block; the first, and the one
    behind the last."""
    end = prod(required_block_size(op)) // WARPGROUP
    inner = op.operation
    while inner != function_of(op):
        if inner.name == "smem.role":
            counts = {role.operation: role_warpgroups(role) for role in roles_of(inner.parent)}
            before = list(counts).index(inner)
            first = sum(list(counts.values())[:before])
            return first, first + counts[inner]
        inner = inner.parent.operation
    return 0, end
