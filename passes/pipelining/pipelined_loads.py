"""Loads of a partition that share a pipeline, and their readers in another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops import TileMma
from ...dialect.ops.pipeline import (
    consumer_release,
    consumer_wait,
    create_pipeline,
    producer_acquire,
    producer_commit,
)
from ...dialect.ops.stage import stage
from ...dialect.ops.tma import tma_load
from ...dialect.types import shape_of
from ...ir import emit
from ..insert_sync.insertion_points import InsertionPoint, ancestor_in, loops_around, ops_of
from .bulk_loads import LoadedBox
from .counting import LoopCount
from .loads import TileLoad
from .rewriting import in_stage
from .slices import new_value_of


@dataclass
class PipelinedLoads:
    """Loads of a block that share a pipeline.

    Attributes:
        block: the body of a loop, or that of the function.
        loads: the loads.
        boxes: what they load.
        index: the pipeline index, in the block.
        count: the count of the loop; None outside of loops.
        pipeline: the pipeline.
        tiles: the tiles with stages, by tile.
    """

    block: Block
    loads: list[TileLoad]
    boxes: list[LoadedBox]
    index: Value
    count: LoopCount | None
    pipeline: Value
    tiles: dict[Value, Value]

    @property
    def users(self) -> list[Op]:
        """The ops that read the tiles."""
        return [op for load in self.loads for op in load.users]

    def emit(self, values: Mapping[Value, Value], index: Value) -> None:
        """Emit the loads of a pipeline index, with the new values of what they take."""
        number = producer_acquire(self.pipeline, index)
        for load, box in zip(self.loads, self.boxes, strict=True):
            starts = [x if isinstance(x, int) else new_value_of(values, x) for x in box.starts]
            with load.copy.location:
                tile = stage(self.tiles[load.tile], number)
                tma_load(box.array, tile, self.pipeline, index, starts)
        producer_commit(self.pipeline, index)

    def take_stages(self) -> None:
        """Let the readers of the tiles wait for their stage, and release it."""
        first, *_, last = 2 * _users_in(self.block, self.users)
        with ir.InsertionPoint(first), first.location:
            number = consumer_wait(self.pipeline, self.index)
            staged = {tile: stage(tiles, number) for tile, tiles in self.tiles.items()}
        for op in dict.fromkeys(self.users):
            for i, operand in enumerate(op.operands):
                op.operands[i] = in_stage(operand, staged, op)
        if self.count is not None:
            self._release(last, self.count)

    def _release(self, last: Op, count: LoopCount) -> None:
        """Release the stage; while an mma of it may run, that of the iteration before.

        The last one is then released behind a loop in a loop. Else nothing waits for it.
        """
        block, loop = self.block, self.block.owner.operation
        mmas = [op for op in self.users if isinstance(op.opview, TileMma)]
        if not mmas or not all(_stays_in_flight(op, block) for op in mmas):
            with _behind(last, mmas, block).ir_point, last.location:
                consumer_release(self.pipeline, self.index)
            return
        with ir.InsertionPoint.after(last), last.location:
            is_later = emit.compare("sgt", block.arguments[0], loop.operands[0])
            with emit.scf_if(is_later):
                consumer_release(self.pipeline, emit.binary("subi", self.index, 1))
        if loops_around(loop):
            with ir.InsertionPoint.after(loop), last.location:
                before, following = count.before_and_behind()
                has_run = emit.compare("sgt", following, before)
                with emit.scf_if(has_run):
                    consumer_release(self.pipeline, emit.binary("subi", following, 1))


def make_pipelines(
    block: Block,
    loads: Iterable[tuple[TileLoad, LoadedBox]],
    tiles: Mapping[Value, Value],
    consumers: int,
    index: Value,
    count: LoopCount | None,
) -> list[PipelinedLoads]:
    """Emit the pipelines of the loads of a block: one for those that the same op reads first.

    Args:
        block, index, count: as in `PipelinedLoads`.
        loads: the loads, with their boxes.
        tiles: the tiles with stages, by tile.
        consumers: warpgroups that release a stage.
    """
    groups: dict[Op, list[tuple[TileLoad, LoadedBox]]] = {}
    for load, box in loads:
        groups.setdefault(_users_in(block, load.users)[0], []).append((load, box))
    made = []
    for pairs in groups.values():
        members, boxes = map(list, zip(*pairs, strict=True))
        staged = {load.tile: tiles[load.tile] for load in members}
        stages, *_ = shape_of(staged[members[0].tile].type)
        with members[0].copy.location:
            pipeline = create_pipeline(stages, 1, consumers)
        made.append(PipelinedLoads(block, members, boxes, index, count, pipeline, staged))
    return made


def _users_in(block: Block, users: Sequence[Op]) -> list[Op]:
    """Return the ops of a block that are some ops, or contain one, in their order."""
    wanted = {ancestor_in(block, op) for op in users}
    return [op for op in ops_of(block) if op in wanted]


def _stays_in_flight(mma: Op, block: Block) -> bool:
    """Whether only later mma take the result of one in a loop's body, in this or the next iteration."""
    if mma.block != block:
        return False
    for use in mma.results[0].uses:
        user = use.owner.operation
        if user.name != "scf.yield":
            if not isinstance(user.opview, TileMma) or not _stays_in_flight(user, block):
                return False
        elif user.block != block or any(
            not isinstance(x.owner.opview, TileMma)
            for x in block.arguments[1 + use.operand_number].uses
        ):
            return False
    return True


def _behind(last: Op, mmas: Sequence[Op], block: Block) -> InsertionPoint:
    """Return the point where a stage is released behind its last reader: where the result of an mma of it
    is read, or at the end, where it is waited for."""
    readers = {ancestor_in(block, use.owner) for mma in mmas for use in mma.results[0].uses}
    is_behind = False
    for op in ops_of(block):
        if is_behind and op in readers:
            return InsertionPoint(op)
        is_behind = is_behind or op == last
    return InsertionPoint(last, is_after=True)
