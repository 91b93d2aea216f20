"""The persistent tile scheduler: the tiles of C that a CTA computes, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from .... import language as sl
from .config import Config


class PersistentTileScheduler:
    """The loop over a CTA's tiles, in the order of rasterization.

    Clusters take tiles in turn; the tiles of a cluster are adjacent. The scheduler visits all columns of
    `group` rows of clusters before the next rows, so clusters that run at the same time share A and B in
    L2.
    """

    def __init__(self, config: Config, m: sl.Index | int, n: sl.Index | int) -> None:
        self.config = config
        along_m, along_n = config.cluster
        self._rows = sl.cdiv(m, config.tile[0] * along_m)
        self._columns = sl.cdiv(n, config.tile[1] * along_n)

    def tiles(self) -> Iterator[tuple[sl.Index, sl.Index, sl.Index | int]]:
        """Loop over the CTA's tiles: the first row and column of each in C, and its number from 0 on."""
        tile_m, tile_n, _ = self.config.tile
        along_m, along_n = self.config.cluster
        x, y = sl.block_id(0), sl.block_id(1)
        cluster, clusters = x // along_m, sl.grid_dim(0) // along_m
        rank = x % along_m
        number: sl.Index | int = 0
        for at in sl.range(cluster, self._rows * self._columns, clusters):
            row, column = self._rasterize(at)
            row = row * along_m + rank
            if along_n > 1:
                column = column * along_n + y
            yield row * tile_m, column * tile_n, number
            number = number + 1

    def _rasterize(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the row and column, in units of clusters, of the `number`-th tiles of a cluster."""
        group = self.config.group
        in_group = group * self._columns
        first = number // in_group * group
        height = sl.minimum(sl.unsigned(self._rows - first), group)
        within = number % in_group
        return first + within % height, within // height
