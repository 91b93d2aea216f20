"""Arrays in global memory that a partition writes, and reads after an arrival at a semaphore."""

from __future__ import annotations

from collections.abc import Iterator

from ....dialect.bindings import ir
from ....dialect.irtypes import Op, Value
from ....dialect.op import SmemOp
from ....dialect.ops import PartitionOp
from ....ir.kernel import ancestors_of
from ...order.global_memory import GlobalAccess, GlobalMemory
from ..extents import Extent
from ..polynomials import Polynomial, number
from ..values import Values

_LOOPS = ("scf.for", "scf.while", "scf.parallel", "scf.forall")


def unordered_accesses(memory: GlobalMemory, function: Op) -> Iterator[tuple[Op, Op]]:
    """Yield writes of arrays, each with a read by other threads that no barrier puts in order.

    Args:
        memory: the arrays that a function writes and reads.
        function: the function.
    """
    conflicts = list(memory.conflicts())
    values = Values(function) if conflicts else None
    for write, read in conflicts:
        assert values is not None
        if not _is_ordered(write, read, values):
            yield write.op, read.op


def _is_ordered(one: GlobalAccess, other: GlobalAccess, values: Values) -> bool:
    """Whether each warpgroup of a partition accesses bytes of its own, with a barrier in between."""
    outer, others = ([each.op.operation, *ancestors_of(each.op)] for each in (one, other))
    partition = next((x for x in outer if isinstance(x.opview, PartitionOp)), None)
    if partition is None or partition not in others or one.asynchronous or other.asynchronous:
        return False
    common = next(x for x in outer if x in others)
    around = [x.name for x in outer[outer.index(common) :]]
    ends = outer[outer.index(common) - 1], others[others.index(common) - 1]
    return (
        not any(name in _LOOPS for name in around)
        and ends[0].block == ends[1].block
        and any(map(_is_barrier, _between(*ends)))
        and _is_by_warpgroup(one.window, other.window, partition.opview, values)
    )


def _between(one: Op, other: Op) -> list[Op]:
    """Return the ops of a block between two of them."""
    ops = [op.operation for op in one.block.operations]
    first, last = sorted((ops.index(one), ops.index(other)))
    return ops[first + 1 : last]


def _is_barrier(op: Op) -> bool:
    return isinstance(op.opview, SmemOp) and op.opview.effects.barrier is not None


def _is_by_warpgroup(one: Value, other: Value, partition: PartitionOp, values: Values) -> bool:
    """Whether different warpgroups of a partition access different bytes of an array by two windows."""
    if partition.warpgroups.value == 1:
        return True
    symbol = values.warpgroup(partition)
    return any(
        x.is_disjoint_between(y, symbol)
        for x, y in zip(_extents(one, values), _extents(other, values), strict=False)
    )


def _extents(window: Value, values: Values) -> list[Extent]:
    """Return the extents of a window of an array; none if they are not known."""
    owner = window.owner
    if isinstance(owner, ir.Block) or owner.name != "memref.subview":
        return []
    dynamic = ir.ShapedType.get_dynamic_size()
    offset = ir.ShapedType.get_dynamic_stride_or_offset()
    starts = iter(list(owner.operands)[1:])
    extents = []
    for start, size, step in zip(
        *(owner.attributes[f"static_{of}"] for of in ("offsets", "sizes", "strides")), strict=True
    ):
        known: Polynomial = values.of(next(starts)) if start == offset else number(start)
        # A size that is not known overlaps with all.
        extents.append(Extent(known if dynamic != size and step == 1 else None, size, size + 1))
    return extents
