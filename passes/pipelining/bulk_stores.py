"""Stores by TMA in the place of stores from registers, which write 16 bytes of a line at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.build import create
from ...dialect.ops import ElectOp, StoreOp
from ...dialect.ops.alloc import alloc
from ...dialect.ops.columns import columns
from ...dialect.ops.copy_groups import tma_commit, tma_wait
from ...dialect.ops.stage import stage
from ...dialect.ops.store import store
from ...dialect.ops.subtile import subtile
from ...dialect.ops.tma import GLOBAL_ALIGNMENT, tma_store
from ...dialect.slices import slice_dim
from ...dialect.types import shape_of
from ...ir import emit
from ...ir.kernel import ancestors_of
from ...ir.parameters import extent_multiple
from ...ir.walk import walk
from ...ir.windows import ArrayWindow, window_of
from ..check_async.integer_ranges import IntegerRanges
from ..check_async.polynomials import number
from ..check_async.warpgroups import differences
from ..order.effects import is_known
from ..order.program import LOOPS

#: Bytes of a line that is stored at a time: the widest swizzle.
_LINE = 128

#: Element types that a fragment is stored as, and that tensor maps have; by their bits.
_BITS = {"f32": 32, "i32": 32, "bf16": 16, "f16": 16}

#: While TMA reads one buffer, the next columns are written to another one.
BUFFERS = 2


class BulkStore(NamedTuple):
    """A store of a fragment that TMA can do.

    Attributes:
        op: the store.
        window: where it stores.
        width: the columns that are stored at a time.
        is_together: whether all threads of the kernel execute it, equally often.
    """

    op: StoreOp
    window: ArrayWindow
    width: int
    is_together: bool

    @property
    def shared_bytes(self) -> int:
        """The bytes of its buffers."""
        bits = _BITS[str(self.window.array.type.element_type)]
        return BUFFERS * shape_of(self.op.fragment.type)[0] * self.width * bits // 8


def bulk_stores(function: Op) -> list[BulkStore]:
    """Return the stores of a kernel that TMA can do: of whole lines, to arrays that nothing else uses.

    Where TMA is used, a launch checks that lines are multiples of 16 bytes; so they are known to be.
    """
    ranges = IntegerRanges(function)
    stores = [_bulk_store(op, function, ranges) for op in walk(function, StoreOp)]
    return [found for found in stores if found is not None]


def _bulk_store(op: StoreOp, function: Op, ranges: IntegerRanges) -> BulkStore | None:
    window = window_of(op.target) if isinstance(op.target.type, ir.MemRefType) else None
    if window is None or window.transpose is not None or slice_dim(op.fragment.type) is not None:
        return None
    array, rank = window.array, len(window.starts)
    type_, shape = array.type, shape_of(op.fragment.type)
    bits = _BITS.get(str(type_.element_type))
    if window.kept != (rank - 2, rank - 1) or window.sizes[-2:] != shape or bits is None:
        return None
    if type_.affine_map != ir.AffineMap.get_identity(rank) or not _is_only_stored(array, op):
        return None
    extent = 0 if type_.is_dynamic_dim(rank - 1) else type_.shape[rank - 1]
    extent = extent or extent_multiple(function, array.arg_number, rank - 1)
    width = min(_LINE * 8 // bits, shape[1])
    unit = GLOBAL_ALIGNMENT * 8 // bits
    if extent % unit or shape[1] % unit or width * bits < _LINE * 8:
        return None
    for start in window.starts:
        known = number(start) if isinstance(start, int) else ranges.values.polynomial(start)
        if not ranges.is_natural_at(op, known):
            return None
    return BulkStore(op, window, width, not any(differences(op, ranges.values)))


def _is_only_stored(array: Value, op: StoreOp) -> bool:
    """Whether one op alone accesses the elements of an array."""
    for use in array.uses:
        user = use.owner.operation
        if user.name == "memref.subview":
            if any(x.owner.operation != op.operation for x in user.results[0].uses):
                return False
        elif user.name != "memref.dim" or not is_known(user):
            return False
    return True


def store_in_bulk(found: BulkStore, before: Op) -> None:
    """Let TMA store what an op stores, through buffers that are allocated in front of another op.

    In a loop, what the thread has stored before is complete first: the window of the next iteration may
    have the same elements.

    Args:
        found: the store.
        before: the buffers are allocated in front of this op.
    """
    op, window = found.op, found.window
    rows, all_columns = shape_of(op.fragment.type)
    with ir.InsertionPoint(before), op.location:
        buffers = alloc((BUFFERS, rows, found.width), window.array.type.element_type)
    is_repeated = any(outer.name in LOOPS for outer in ancestors_of(op))
    with ir.InsertionPoint(op), op.location:
        if is_repeated:
            with _one_thread():
                tma_wait()
        for position, first in enumerate(range(0, all_columns, found.width)):
            count = min(found.width, all_columns - first)
            tile = stage(buffers, position % BUFFERS)
            if count < found.width:
                tile = subtile(tile, (0, 0), (rows, count))
            store(columns(op.fragment, first, count), tile)
            with _one_thread():
                tma_store(
                    tile, window.array, (*window.starts[:-1], moved(window.starts[-1], first))
                )
                tma_commit()
    op.operation.erase()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Emit what is emitted in the context for one thread of the warpgroup."""
    elect = create(ElectOp, regions=1, scope="warpgroup")
    with ir.InsertionPoint(ir.Block.create_at_start(elect.regions[0], [])):
        yield


def moved(start: Value | int, more: Value | int) -> Value | int:
    """Return a start that so many elements are added to."""
    if isinstance(start, int):
        return start + more if isinstance(more, int) else emit.binary("addi", more, start)
    return emit.binary("addi", start, more)
