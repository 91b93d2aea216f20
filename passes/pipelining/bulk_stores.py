"""Stores by TMA in the place of stores from registers, which write 16 bytes of a line at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from .division import Division

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
        can_be_elsewhere: whether a thread of another partition may store: all threads of the kernel
            execute the op, equally often, and behind it the block stores no other fragment.
    """

    op: StoreOp
    window: ArrayWindow
    width: int
    can_be_elsewhere: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The rows and columns of the window."""
        return tuple(size for size in self.window.sizes[-2:] if isinstance(size, int))

    def buffer_bytes(self, division: Division) -> int:
        """The bytes of the buffers of all warpgroups."""
        bits = _BITS[str(self.window.array.type.element_type)]
        rows, _ = division.share_of(self.shape)
        return BUFFERS * division.warpgroups * rows * self.width * bits // 8

    def alloc_buffers(self, before: Op, division: Division) -> Value:
        """Allocate the buffers of all warpgroups, in front of an op."""
        rows, _ = division.share_of(self.shape)
        with ir.InsertionPoint(before), self.op.location:
            shape = BUFFERS * division.warpgroups, rows, self.width
            return alloc(shape, self.window.array.type.element_type)

    def parts_of(self, division: Division) -> list[tuple[int, int]]:
        """The first column of each part of a warpgroup's share, and their number."""
        _, share = division.share_of(self.shape)
        return [(x, min(self.width, share - x)) for x in range(0, share, self.width)]

    def place_of(
        self, starts: Sequence[Value | int], division: Division, warpgroup: Value
    ) -> tuple[Value | int, ...]:
        """Emit where a warpgroup's share of the window begins, whose starts are given."""
        *outer, row, column = starts
        rows, columns_ = division.start_of(warpgroup, self.shape)
        return *outer, start_plus(row, rows), start_plus(column, columns_)


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
    block = list(op.operation.block.operations)
    is_last = not any(isinstance(x, StoreOp) for x in block[block.index(op) + 1 :])
    is_together = is_last and not any(differences(op, ranges.values))
    return BulkStore(op, window, width, is_together)


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


@dataclass(frozen=True)
class OwnStores:
    """A store by the warpgroups of consumers themselves, through buffers of each.

    In a loop, what the thread has stored before is complete first: the window of the next iteration may
    have the same elements.

    Attributes:
        found: the store.
        division: of its fragment.
        buffers: the tiles of all warpgroups.
    """

    found: BulkStore
    division: Division
    buffers: Value

    @classmethod
    def before(cls, op: Op, found: BulkStore, division: Division) -> OwnStores:
        """Make the buffers in front of an op."""
        return cls(found, division, found.alloc_buffers(op, division))

    def take_place(self, warpgroup: Value) -> None:
        """Store what the op stores, whose fragment has the warpgroup's share."""
        op, window = self.found.op, self.found.window
        is_repeated = any(outer.name in LOOPS for outer in ancestors_of(op))
        with ir.InsertionPoint(op), op.location:
            place = self.found.place_of(window.starts, self.division, warpgroup)
            if is_repeated:
                with _one_thread():
                    tma_wait()
            for position, (first, count) in enumerate(self.found.parts_of(self.division)):
                tile = self._buffer(warpgroup, position, count)
                store(columns(op.fragment, first, count), tile)
                with _one_thread():
                    tma_store(tile, window.array, (*place[:-1], start_plus(place[-1], first)))
                    tma_commit()
        op.operation.erase()

    def _buffer(self, warpgroup: Value, position: int, count: int) -> Value:
        _, rows, width = shape_of(self.buffers.type)
        number: Value | int = position % BUFFERS
        if self.division.warpgroups > 1:
            number = emit.binary("addi", emit.binary("muli", warpgroup, BUFFERS), number)
        tile = stage(self.buffers, number)
        return tile if count == width else subtile(tile, (0, 0), (rows, count))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Emit what is emitted in the context for one thread of the warpgroup."""
    elect = create(ElectOp, regions=1, scope="warpgroup")
    with ir.InsertionPoint(ir.Block.create_at_start(elect.regions[0], [])):
        yield


def start_plus(start: Value | int, more: Value | int) -> Value | int:
    """Return a start that so many elements are added to."""
    if isinstance(start, int):
        return start + more if isinstance(more, int) else emit.binary("addi", more, start)
    return emit.binary("addi", start, more)
