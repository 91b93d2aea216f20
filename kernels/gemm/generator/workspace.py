"""Split tiles: their parts in global memory, and the CTA that arrives last, which adds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .... import language as sl
from .config import Config
from .problem import Problem
from .tile_scheduler import StreamKTileScheduler, WorkTile

#: Parts of a cluster that can be in the workspace: of the first tile it streams, and of the last.
_PARTS = 2


class WorkspaceExtents(NamedTuple):
    """The extents of the workspace of a launch.

    Attributes:
        rows, columns: of the parts, a matrix of the accumulator's type.
        semaphores: how many i32; all are 0 before and after a launch.
    """

    rows: int
    columns: int
    semaphores: int


def workspace_extents(problem: Problem, config: Config, ctas: int) -> WorkspaceExtents:
    """Return the extents of the workspace for a launch of `ctas` CTAs."""
    tile_m, tile_n, _ = config.tile
    # At most two waves of tiles are streamed (`StreamKTileScheduler`).
    places = _PARTS * ctas
    return WorkspaceExtents(places * tile_m, problem.products * tile_n, places * config.consumers)


class Workspace:
    """The parts of split tiles.

    A CTA writes its part of a tile to its own place and arrives at the tile's semaphore; the last to
    arrive adds all parts in the order of K. So the sums are the same in every launch, and no CTA waits
    for another.

    Args:
        W: the parts, (rows, columns) of `workspace_extents`.
        S: the semaphores.
        config: the configuration.
        scheduler: which cluster computes which part.
    """

    def __init__(
        self,
        W: sl.Array,  # noqa: N803
        S: sl.Array,  # noqa: N803
        config: Config,
        scheduler: StreamKTileScheduler,
    ) -> None:
        self._W, self._S = W, S
        self._config, self._scheduler = config, scheduler
        along_m, along_n = config.cluster
        self._ctas = along_m * along_n
        self._rank = sl.block_id(0) % along_m + sl.block_id(1) * along_m

    def arrive(self, acc: sl.Fragment, work: WorkTile, warpgroup: sl.Index) -> sl.Bool:
        """Write a warpgroup's rows of a part, and return whether all other parts are written."""
        first, parts = self._scheduler.parts(work.tile)
        cluster = sl.block_id(0) // self._config.cluster[0]
        slot = self._slot(sl.unsigned(cluster - first), cluster)
        assert acc.shape is not None
        sl.store(acc, self._window(slot, warpgroup, 0, acc.shape[1]))
        semaphore = (work.tile * self._ctas + self._rank) * self._config.consumers + warpgroup
        return sl.semaphore_arrive(self._S, semaphore, parts)

    def columns(self, work: WorkTile, warpgroup: sl.Index) -> Callable[[int, int], sl.Fragment]:
        """Return a function for the sum of all parts in a warpgroup's rows, of the first column and the
        number of columns."""
        first, parts = self._scheduler.parts(work.tile)

        def total(column: int, count: int) -> sl.Fragment:
            acc = sl.load(self._window(self._slot(0, first), warpgroup, column, count))
            for part in sl.range(1, parts):
                slot = self._slot(part, first + part)
                acc = acc + sl.load(self._window(slot, warpgroup, column, count))
            return acc

        return total

    def _slot(self, part: sl.Index | int, cluster: sl.Index) -> sl.Index:
        """Return the workspace slot of a tile's part, which a cluster computes.

        Each cluster has two slots: the first for the end of a tile that another cluster has begun, the
        second for the begin of a tile.
        """
        second = 1 if isinstance(part, int) else sl.where(part < 1, 1, 0)
        return (cluster * self._ctas + self._rank) * _PARTS + second

    def _window(self, place: sl.Index, warpgroup: sl.Index, column: int, columns: int) -> sl.Window:
        tile_m, rows = self._config.tile[0], self._config.tile[0] // self._config.consumers
        row = place * tile_m + warpgroup * rows
        return self._W[sl.ds(row, rows), column : column + columns]
