"""Resolves the tile operands of a partition's ops to rectangles of allocations and their stages."""

from __future__ import annotations

from typing import NamedTuple

from ....bindings.irtypes import Op, Value
from ....dialect.ops import AllocOp, CreatePipelineOp, StageOp
from ...order.report import label
from ..tile_slices import AxisSlice, subtile_of
from .findings import Findings
from .kernel import KernelAnalysis
from .ops import WAITS, PipelineSide, Side, index_of, pipeline_side_of, stages_of
from .partition import ActiveThreads
from .state import PartitionState, TileRectangle


class _StagedSubtile(NamedTuple):
    """A tile as a subtile of an allocation.

    Attributes:
        stage: the index of its stage; None if the allocation has no stages.
        slices: those of stages, rows and columns.
    """

    allocation: Op
    stage: Value | None
    slices: tuple[AxisSlice, AxisSlice, AxisSlice]


class _StageOrigin(NamedTuple):
    """The pipeline index of a stage; see `TileRectangle`."""

    pipeline_side: PipelineSide | None = None
    lag: int = 0
    shift: int = 0


class TileResolver:
    """Finds the rectangles of the tiles that a partition accesses.

    Args:
        kernel: the function.
        threads: those of the partition.
        pipeline_sides: those that the partition takes.
        findings: receives errors and remarks.
    """

    def __init__(
        self,
        kernel: KernelAnalysis,
        threads: ActiveThreads,
        pipeline_sides: list[PipelineSide],
        findings: Findings,
    ) -> None:
        self._kernel = kernel
        self._threads = threads
        self._pipeline_sides = pipeline_sides
        self._findings = findings
        self._subtiles: dict[Value, _StagedSubtile] = {}

    def rectangle(
        self, op: Op, tile: Value, state: PartitionState, loads: bool = False
    ) -> TileRectangle | None:
        """Return the rectangle of a tile; None if not known, which a remark states.

        Args:
            op: the op that accesses it.
            tile: the tile.
            state: the state before the op.
            loads: whether the bytes of the access count for a pipeline.
        """
        if tile not in self._subtiles:
            self._subtiles[tile] = self._subtile(tile, op)
        allocation, stage, slices = self._subtiles[tile]
        origin: _StageOrigin | None = _StageOrigin()
        if not isinstance(allocation, AllocOp):
            self._findings.remark(
                op, f"the {label(allocation)} views memory that others may write", state
            )
            return None
        if stage is not None:
            origin = self._of_stage(op, allocation, stage, slices[0].tile_size, state)
        elif allocation in self._kernel.filling_pipelines:
            origin = self._of_filled(op, allocation, loads, state)
        return None if origin is None else TileRectangle(allocation, *origin, slices)

    def _subtile(self, tile: Value, op: Op) -> _StagedSubtile:
        allocation, chain, slices = subtile_of(tile, op, self._kernel.values)
        stage = None
        for subtile in chain:
            if isinstance(subtile, StageOp):
                stage = subtile.index
        return _StagedSubtile(allocation, stage, slices)

    def _of_filled(
        self, op: Op, allocation: Op, loads: bool, state: PartitionState
    ) -> _StageOrigin | None:
        """Return the pipeline index in which a tile without stages is used; None if not known."""
        pipeline = self._kernel.filling_pipelines[allocation]
        pipeline_side = PipelineSide(pipeline, Side.PRODUCER if loads else Side.CONSUMER)
        if not self._check_stage_count(op, allocation, pipeline, 1, state):
            return None
        return _StageOrigin(pipeline_side, 1 if state.outstanding(pipeline_side) else 0)

    def _of_stage(
        self, op: Op, allocation: Op, stage: Value, stages: int, state: PartitionState
    ) -> _StageOrigin | None:
        """Return the pipeline index of a stage of a tile; None if not known.

        Args:
            op: the op that accesses the tile.
            allocation: the tile.
            stage: the number of the stage.
            stages: how many stages the tile has.
            state: the state before the op.
        """
        if not isinstance(stage.owner, WAITS):
            return self._by_number(op, allocation, stage, stages, state)
        pipeline_side = pipeline_side_of(stage.owner)
        if not self._check_stage_count(op, allocation, pipeline_side.pipeline, stages, state):
            return None
        lag = self._kernel.relative_indices.lag_of(
            op, stage.owner.index, pipeline_side, self._threads.iteration
        )
        if lag is None:
            self._findings.remark(op, "the pipeline index of its stage is not known", state)
            return None
        return _StageOrigin(pipeline_side, lag)

    def _by_number(
        self, op: Op, allocation: Op, stage: Value, stages: int, state: PartitionState
    ) -> _StageOrigin:
        """Return the outstanding pipeline index i with stage = i % stages of the tile."""
        index = index_of(stage)
        if (
            index is None
            or self._kernel.values.polynomial(stage.owner.operands[1]).constant != stages
        ):
            return _StageOrigin()
        loads = self._kernel.loaded.get(allocation)
        if loads is None and allocation not in self._kernel.exchanged:
            return _StageOrigin()
        # The pipeline of the last wait comes first: other pipelines may be at the same index.
        for pipeline_side in reversed(state.pipelines):
            pipeline, side = pipeline_side
            if loads is not None and loads.pipeline.owner != pipeline:
                continue
            shift = stages_of(pipeline) - stages
            # A producer fills the stage that the consumers' index of one round earlier has emptied.
            shift, earlier = (
                (shift, (shift, shift + stages)) if side is Side.PRODUCER else (0, (0,))
            )
            following = self._kernel.relative_indices.lag_of(
                op, index, pipeline_side, self._threads.iteration
            )
            for lag in () if following is None or shift < 0 else (following - x for x in earlier):
                if 1 <= lag <= state.outstanding(pipeline_side) - shift:
                    return _StageOrigin(pipeline_side, lag, shift)
        return _StageOrigin()

    def _check_stage_count(
        self, op: Op, allocation: Op, pipeline: CreatePipelineOp, stages: int, state: PartitionState
    ) -> bool:
        """Check that a tile has as many stages as its pipeline."""
        count = stages_of(pipeline)
        if stages < count:
            self._findings.error(
                op,
                f"takes one of {count} stages of the {label(pipeline)} from the {label(allocation)}, "
                f"which has {stages}; give both the same number of stages",
                state.certain and stages > 1,
                state,
            )
        elif stages > count:
            self._findings.remark(
                op,
                f"the {label(allocation)} has {stages} stages, the {label(pipeline)} {count}; give both "
                "the same number of stages",
                state,
            )
        return stages == count
