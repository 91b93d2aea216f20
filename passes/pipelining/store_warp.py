"""A store warp: one thread stores results by TMA, while the consumers multiply the next tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.build import as_index
from ...dialect.ops.columns import columns
from ...dialect.ops.copy_groups import tma_commit, tma_wait
from ...dialect.ops.pipeline import (
    consumer_release,
    consumer_wait,
    create_pipeline,
    producer_acquire,
    producer_commit,
)
from ...dialect.ops.stage import stage
from ...dialect.ops.store import store
from ...dialect.ops.subtile import subtile
from ...dialect.ops.tma import tma_store
from ...dialect.types import shape_of
from ...ir import emit
from .bulk_stores import BulkStore, start_plus
from .division import Division
from .slices import new_value_of


@dataclass(frozen=True)
class StoreWarp:
    """A store in a loop, through buffers that a thread of another partition grants and stores.

    All that the first warpgroup has comes first, so the second one stays behind it, and multiplies while
    the first one stores.

    Attributes:
        found: the store.
        index: how often it was executed before, in its block.
        division: of its fragment.
        buffers: the tiles, which warpgroups take in turn.
        pipeline: grants buffers to the consumers; the storing thread is its producer.
    """

    found: BulkStore
    index: Value
    division: Division
    buffers: Value
    pipeline: Value

    @classmethod
    def before(cls, op: Op, found: BulkStore, index: Value, division: Division) -> StoreWarp:
        """Make the buffers and the pipeline in front of an op."""
        buffers = found.alloc_buffers(op, division)
        count, *_ = shape_of(buffers.type)
        stores = division.warpgroups * len(found.parts_of(division))
        with ir.InsertionPoint(op), found.op.location:
            # A multiple of the stores of a tile, so that each stage is released by the same warpgroup.
            pipeline = create_pipeline(stores * ceil(count / stores), 1, 1)
        return cls(found, index, division, buffers, pipeline)

    @property
    def operands(self) -> list[Value]:
        """What the storing thread takes."""
        return [self.index, *(x for x in self.found.window.starts if not isinstance(x, int))]

    def grant_first(self) -> None:
        """Emit the grants of the buffers that are empty at first."""
        with self.found.op.location:
            for number in range(self._count - self._in_flight):
                producer_commit(self.pipeline, as_index(number))

    def emit_stores(self, values: Mapping[Value, Value]) -> None:
        """Emit the stores of an execution, with the new values of `operands`."""
        starts = [
            x if isinstance(x, int) else new_value_of(values, x) for x in self.found.window.starts
        ]
        index = new_value_of(values, self.index)
        # The windows of two executions may have the same elements.
        tma_wait()
        with emit.scf_for(self.division.warpgroups) as warpgroup:
            *outer, column = self.found.place_of(starts, self.division, warpgroup)
            first = self._first_index(index, warpgroup)
            last_column, last_count = self._parts[-1]
            is_narrower = last_count < self.found.width
            with emit.scf_for(len(self._parts) - is_narrower) as part:
                place = *outer, start_plus(column, emit.binary("muli", part, self.found.width))
                self._store(emit.binary("addi", first, part), place, self.found.width)
            if is_narrower:
                last = emit.binary("addi", first, len(self._parts) - 1)
                self._store(last, (*outer, start_plus(column, last_column)), last_count)

    def _store(self, index: Value, place: tuple[Value | int, ...], count: int) -> None:
        """Emit the store of a buffer of so many columns, and the grant of the next one."""
        # The warpgroup releases the stage when it has written the buffer.
        producer_acquire(self.pipeline, emit.binary("addi", index, self._stages))
        tma_store(self._buffer(index, count), self.found.window.array, place)
        tma_commit()
        tma_wait(self._in_flight, read=True)
        # The store that has just been read frees the buffer of this pipeline index.
        granted = emit.binary("addi", index, self._count - self._in_flight)
        producer_commit(self.pipeline, granted)

    def take_place(self, warpgroup: Value) -> None:
        """Let a warpgroup write its share to buffers in the place of the store."""
        op = self.found.op
        with ir.InsertionPoint(op), op.location:
            first = self._first_index(self.index, warpgroup)
            for part, (start, count) in enumerate(self._parts):
                index = emit.binary("addi", first, part)
                consumer_wait(self.pipeline, index)
                store(columns(op.fragment, start, count), self._buffer(index, count))
                consumer_release(self.pipeline, index)
        op.operation.erase()

    @property
    def _count(self) -> int:
        return shape_of(self.buffers.type)[0]

    @property
    def _stages(self) -> int:
        return self.pipeline.owner.opview.stages.value

    @property
    def _in_flight(self) -> int:
        """The stores that may read their buffers when the next one starts."""
        return min(1, self._count - 1)

    @property
    def _parts(self) -> list[tuple[int, int]]:
        return self.found.parts_of(self.division)

    def _first_index(self, execution: Value, warpgroup: Value) -> Value:
        """Emit the first pipeline index of a warpgroup's share."""
        number = execution
        if self.division.warpgroups > 1:
            of_tile = emit.binary("muli", execution, self.division.warpgroups)
            number = emit.binary("addi", of_tile, warpgroup)
        return emit.binary("muli", number, len(self._parts))

    def _buffer(self, index: Value, count: int) -> Value:
        """Return the buffer of a pipeline index, of so many columns."""
        _, rows, width = shape_of(self.buffers.type)
        tile = stage(self.buffers, emit.binary("remui", index, self._count))
        return tile if count == width else subtile(tile, (0, 0), (rows, count))
