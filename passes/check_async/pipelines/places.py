"""Where the tiles that ops access lie: in the stage of a pipeline's step, or anywhere else."""

from __future__ import annotations

from typing import Any, NamedTuple

from ....dialect.bindings import ir
from ....dialect.ops import AllocOp, StageOp
from ..extents import Extent, subtile_of
from ..polynomials import number
from ..report import at
from .findings import Findings
from .kernel import Kernel, stages_of
from .spots import BEGINS, Side, Spot, Turning, turning_of
from .state import State


class _Subtile(NamedTuple):
    """A tile as a part of a root.

    Attributes:
        stage: the index of the stage that it is in; None if the root has none.
        extents: stages, rows and columns.
    """

    allocation: Any
    stage: Any
    extents: tuple[Extent, Extent, Extent]


class _Taken(NamedTuple):
    """The step that gives a stage; see `Spot`."""

    turning: Turning | None = None
    ago: int = 0
    late: int = 0


class Places:
    """Finds the spots of the tiles that an partition accesses.

    Args:
        kernel: the function.
        turnings: the sides of pipelines that the partition takes.
        findings: takes what is wrong, or not known.
    """

    def __init__(self, kernel: Kernel, turnings: list[Turning], findings: Findings) -> None:
        self._kernel = kernel
        self._turnings = turnings
        self._findings = findings
        self._subtiles: dict[Any, _Subtile] = {}

    def spot(self, op: Any, tile: Any, state: State, loads: bool = False) -> Spot | None:
        """Where a tile lies that an op accesses; None if that is not known, which is then noted.

        Args:
            op: the op.
            tile: the tile.
            state: what the partition has done before.
            loads: whether the bytes of the access count for a pipeline.
        """
        if tile not in self._subtiles:
            self._subtiles[tile] = self._subtile(tile, op)
        allocation, stage, extents = self._subtiles[tile]
        taken: _Taken | None = _Taken()
        if not isinstance(allocation, AllocOp):
            self._findings.unknown(
                op, f"the {at(allocation)} shows memory that others may write", state
            )
            return None
        if stage is not None:
            taken = self._of_stage(op, allocation, stage, extents[0].whole, state)
        elif allocation in self._kernel.fills:
            taken = self._of_filled(op, allocation, loads, state)
        return None if taken is None else Spot(allocation, *taken, extents)

    def _subtile(self, tile: Any, op: Any) -> _Subtile:
        allocation, chain, extents = subtile_of(tile, op, self._kernel.values)
        stage = None
        for subtile in chain:
            if isinstance(subtile, StageOp):
                stage = subtile.index
        return _Subtile(allocation, stage, extents)

    def _of_filled(self, op: Any, allocation: Any, loads: bool, state: State) -> _Taken | None:
        """The step in which a tile without stages is used; None if it is not known."""
        turning = self._kernel.fills[allocation], Side.PRODUCER if loads else Side.CONSUMER
        if not self._fits(op, allocation, turning[0], 1, state):
            return None
        return _Taken(turning, 1 if state.turn(turning).held else 0)

    def _of_stage(
        self, op: Any, allocation: Any, stage: Any, stages: int, state: State
    ) -> _Taken | None:
        """The step that gives a stage of a tile, which has so many; None if it is not known."""
        if not isinstance(stage.owner, BEGINS):
            return self._by_number(stage, stages, state)
        turning = turning_of(stage.owner)
        if not self._fits(op, allocation, turning[0], stages, state):
            return None
        ago = (state.turn(turning).next - self._kernel.values.of(stage.owner.step)).constant
        if ago is None:
            self._findings.unknown(op, "it is not known of which step its stage is", state)
            return None
        return _Taken(turning, ago)

    def _by_number(self, stage: Any, stages: int, state: State) -> _Taken:
        """The step that is held of which a stage is the remainder by the tile's stages."""
        owner = stage.owner
        if isinstance(owner, ir.Block) or owner.operation.name != "arith.remui":
            return _Taken()
        step, by = map(self._kernel.values.of, owner.operation.operands)
        for turning in self._turnings if by.constant == stages else ():
            pipeline, side = turning
            turn, late = state.turn(turning), stages_of(pipeline) - stages
            # A producer's stage is that of the consumers' step which made it empty.
            late, since = (late, (late, late + stages)) if side is Side.PRODUCER else (0, (0,))
            for further in since:
                ago = (turn.next - step - number(further)).constant
                if (
                    ago is not None
                    and 1 <= ago <= turn.held - late
                    and stages_of(pipeline) >= stages
                ):
                    return _Taken(turning, ago, late)
        return _Taken()

    def _fits(self, op: Any, allocation: Any, pipeline: Any, stages: int, state: State) -> bool:
        """Whether a tile has as many stages as the pipeline that gives one."""
        count = stages_of(pipeline)
        if stages < count:
            self._findings.wrong(
                op,
                f"takes one of {count} stages of the {at(pipeline)} from the {at(allocation)}, which has "
                f"{stages}; give both as many",
                state.certain and stages > 1,
                state,
            )
        elif stages > count:
            self._findings.unknown(
                op,
                f"the {at(allocation)} has {stages} stages, the {at(pipeline)} {count}; give both as many",
                state,
            )
        return stages == count
