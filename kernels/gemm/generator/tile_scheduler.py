"""Tile schedulers: which tiles of C a CTA computes, and which of their K blocks, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from .... import language as sl
from .config import Config


class WorkTile(NamedTuple):
    """A tile of C, or a part of the products that it sums up.

    Attributes:
        row, column: the first element of the CTA's tile in C.
        tile: the tile's number among the tiles of clusters.
        number: how many the CTA has computed before.
        k_block: the first of its K blocks.
        k_blocks: how many it has; one or more.
        first: how many K blocks the CTA has loaded before: the pipeline index of its first one.
    """

    row: sl.Index
    column: sl.Index
    tile: sl.Index
    number: sl.Index | int
    k_block: sl.Index | int
    k_blocks: sl.Index
    first: sl.Index | int


class TileScheduler(Protocol):
    """The loop over a CTA's work tiles; every role of the kernel runs it."""

    def work_tiles(self) -> Iterator[WorkTile]:
        """Loop over the CTA's work tiles."""
        ...


class _Rasterization:
    """The order of tiles: all columns of `group` rows of clusters, before the next rows.

    The tiles of a cluster are adjacent, so clusters that run at the same time share A and B in L2.
    """

    def __init__(self, config: Config, m: sl.Index | int, n: sl.Index | int) -> None:
        self.config = config
        along_m, along_n = config.cluster
        self._rows = sl.cdiv(m, config.tile[0] * along_m)
        self._columns = sl.cdiv(n, config.tile[1] * along_n)
        self.tiles = self._rows * self._columns

    def place(self, tile: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the first row and column in C of the CTA's tile, of a cluster's `tile`."""
        tile_m, tile_n, _ = self.config.tile
        along_m, along_n = self.config.cluster
        row, column = self._rasterize(tile)
        row = row * along_m + sl.block_id(0) % along_m
        if along_n > 1:
            column = column * along_n + sl.block_id(1)
        return row * tile_m, column * tile_n

    def _rasterize(self, tile: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the row and column of a tile, in units of clusters."""
        group = self.config.group
        in_group = group * self._columns
        first = tile // in_group * group
        height = sl.minimum(sl.unsigned(self._rows - first), group)
        within = tile % in_group
        return first + within % height, within // height


class PersistentTileScheduler:
    """Clusters take whole tiles in turn.

    Args:
        config: the configuration.
        m, n: rows and columns of C.
        k_blocks: K blocks of a tile.
    """

    def __init__(
        self, config: Config, m: sl.Index | int, n: sl.Index | int, k_blocks: sl.Index
    ) -> None:
        self._order = _Rasterization(config, m, n)
        self._k_blocks = k_blocks

    def work_tiles(self) -> Iterator[WorkTile]:
        """Loop over the CTA's tiles."""
        along_m, _ = self._order.config.cluster
        cluster, clusters = sl.block_id(0) // along_m, sl.grid_dim(0) // along_m
        number: sl.Index | int = 0
        for tile in sl.range(cluster, self._order.tiles, clusters):
            row, column = self._order.place(tile)
            first = number * self._k_blocks
            yield WorkTile(row, column, tile, number, 0, self._k_blocks, first)
            number = number + 1
