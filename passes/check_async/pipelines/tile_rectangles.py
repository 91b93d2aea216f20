"""Rectangles of tiles that are accessed, in a stage of a pipeline or in a tile without one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ....bindings.irtypes import Op
from ....dialect.ops import PartitionOp
from ....ir.op_address import OpIdentity
from ..extents import Extent
from ..polynomials import Symbol, Variable, number
from ..values import Values
from .pipeline_sides import PipelineSide

#: Iterations after which it is forgotten where an access in a loop begins.
_PAST = 4


class TileRectangle(NamedTuple):
    """A rectangle of a stage of a tile.

    Attributes:
        allocation: the `smem.alloc`, or an op that writes registers which an mma reads.
        pipeline_side: the pipeline that gives the stage, and the side that takes it; None without a
            pipeline.
        lag: how many indices of the pipeline the partition has taken since the stage's own, including it.
        shift: how many indices before its own a producer commits the stage: a tile whose stage is
            index % stages may have fewer stages than the pipeline.
        extents: those of stages, rows and columns.
        past: how many iterations of loops ended since the access.
    """

    allocation: Op
    pipeline_side: PipelineSide | None
    lag: int
    shift: int
    extents: tuple[Extent, Extent, Extent]
    past: int = 0

    def is_covered(self, others: Iterable[TileRectangle]) -> bool:
        """Whether all of it is known to be in others: in one, or in several that are side by side.

        Stages that a pipeline gives are taken to be the same.
        """
        others = [each for each in others if each.allocation == self.allocation]
        covering = [(other.extents, other._covered_dims(self)) for other in others]
        if any(all(dims) for _, dims in covering):
            return True
        # Those that contain it along the other dimensions, and parts of it along this one.
        for along in range(1, len(self.extents)):
            parts = [
                extents[along]
                for extents, dims in covering
                if all(covered for dim, covered in enumerate(dims) if dim != along)
            ]
            if parts and self.extents[along].is_covered(parts):
                return True
        return False

    def _covered_dims(self, other: TileRectangle) -> list[bool]:
        """Return for each dimension whether this rectangle is known to contain another one."""
        pairs = zip(self.extents, other.extents, strict=True)
        stage, *sides = [mine.is_whole or mine.equals(its) for mine, its in pairs]
        return [stage or self.pipeline_side is not None, *sides]

    @property
    def same_in_cluster(self) -> bool:
        """Whether threads of the same number take the same rectangle in all CTAs of a cluster."""
        return all(each.start is not None and each.start.same_in_cluster for each in self.extents)

    def overlaps(self, other: TileRectangle) -> bool | None:
        """Whether both have bytes in common; None if not known.

        Both must be without a pipeline, or in the same stage of one.
        """
        if self.allocation != other.allocation:
            return False
        sides = [a.overlaps(b) for a, b in zip(self.extents, other.extents, strict=True)]
        return False if False in sides else None if None in sides else True

    def has_same_stage(self, other: TileRectangle) -> bool:
        """Whether both are in the stage of one pipeline index, or both without a pipeline."""
        mine, its = (
            each.pipeline_side and (each.pipeline_side, each.lag + each.shift)
            for each in (self, other)
        )
        return mine == its

    def has_same_pipeline(self, other: TileRectangle) -> bool:
        """Whether both are of one tile, and in stages of the same pipeline, or both without one."""
        return self.allocation == other.allocation and self.pipeline_side == other.pipeline_side

    def equals(self, other: TileRectangle) -> bool:
        """Whether both are known to be the same bytes."""
        pairs = zip(self.extents, other.extents, strict=True)
        return self.allocation == other.allocation and all(mine.equals(its) for mine, its in pairs)

    def is_same(self, other: TileRectangle) -> bool:
        """Whether both are known to be the same bytes, in the same stage."""
        return self.equals(other) and self.has_same_stage(other)

    def is_disjoint_between(self, other: TileRectangle, symbol: Symbol) -> bool:
        """Whether the rectangles of two warpgroups, numbered by `symbol`, have no bytes in common."""
        pairs = zip(self.extents, other.extents, strict=True)
        return any(a.is_disjoint_between(b, symbol) for a, b in pairs)

    def of_warpgroup(self, values: Values, symbol: Symbol, warpgroup: int) -> TileRectangle:
        """Return the rectangle of one warpgroup of a partition, whose numbers are a symbol."""
        starts = (
            None if e.start is None else values.replaced(e.start, symbol, number(warpgroup))
            for e in self.extents
        )
        pairs = zip(self.extents, starts, strict=True)
        return self._replace(extents=tuple(e._replace(start=start) for e, start in pairs))

    def without_variables(self) -> TileRectangle:
        """Return the rectangle without the starts that change while a partition runs."""
        kept = (
            e
            if e.start is None or all(map(_is_partition, e.start.varies))
            else e._replace(start=None)
            for e in self.extents
        )
        return self._replace(extents=tuple(kept), past=0)

    def outside_loop(self, loop: OpIdentity) -> TileRectangle:
        """Return the rectangle without the starts that change with a loop."""
        kept = (
            e if e.start is None or loop not in e.start.varies else e._replace(start=None)
            for e in self.extents
        )
        return self._replace(extents=tuple(kept))

    def of_iteration_before(self, loop: OpIdentity, count: Symbol, values: Values) -> TileRectangle:
        """Return the rectangle in the iteration after that of the access, as far as it is known there.

        Args:
            loop: the loop.
            count: how many of its iterations were run.
            values: the integers of the function.
        """
        if self == (outside := self.outside_loop(loop)):
            return self
        if self.past == _PAST:
            return outside
        before = count.polynomial - number(1)
        extents = (
            e if e.start is None else e._replace(start=values.replaced(e.start, count, before))
            for e in self.extents
        )
        return self._replace(extents=tuple(extents), past=self.past + 1)


def _is_partition(variable: Variable) -> bool:
    return isinstance(variable, OpIdentity) and isinstance(variable.op, PartitionOp)
