"""Tile schedulers: the tiles of C that a CTA computes, one after the other, and their K blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from .... import language as sl
from .config import Config


class WorkTile(NamedTuple):
    """A tile of C, or a part of the products that it sums up.

    Attributes:
        batch: the matrix of C: an index for each leading dimension.
        row, column: the first element of the CTA's tile in C.
        tile: the tile's number among the tiles of clusters.
        number: the number of work tiles that the CTA has computed before.
        k_block: the first of its K blocks.
        k_blocks: the number of its K blocks; one or more.
        first: the number of K blocks that the CTA has loaded before: the pipeline index of its first one.
    """

    batch: tuple[sl.Index, ...]
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

    The tiles of a cluster are adjacent, so clusters that run at the same time share A and B in L2. One
    matrix of a batch follows the other.

    Args:
        config: the configuration.
        extents: those of C.
    """

    def __init__(self, config: Config, extents: Sequence[sl.Index | int]) -> None:
        self.config = config
        *self._batch, m, n = extents
        along_m, along_n = config.cluster
        self._rows = sl.cdiv(m, config.tile[0] * along_m)
        self._columns = sl.cdiv(n, config.tile[1] * along_n)

    @property
    def tiles(self) -> sl.Index:
        """The tiles of clusters, of all matrices."""
        tiles = self._rows * self._columns
        for extent in self._batch:
            tiles = tiles * extent
        return tiles

    def place(self, tile: sl.Index) -> tuple[tuple[sl.Index, ...], sl.Index, sl.Index]:
        """Return the matrix of C, and the first row and column in it, of the CTA's tile of a cluster's
        `tile`."""
        batch: list[sl.Index] = []
        if self._batch:
            of_matrix = self._rows * self._columns
            matrix, tile = tile // of_matrix, tile % of_matrix
            for extent in reversed(self._batch[1:]):
                batch.insert(0, matrix % extent)
                matrix = matrix // extent
            batch.insert(0, matrix)
        tile_m, tile_n, _ = self.config.tile
        along_m, along_n = self.config.cluster
        row, column = self._rasterize(tile)
        row = row * along_m + sl.block_id(0) % along_m
        if along_n > 1:
            column = column * along_n + sl.block_id(1)
        return tuple(batch), row * tile_m, column * tile_n

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
        extents: those of C.
        k_blocks: K blocks of a tile.
    """

    def __init__(
        self, config: Config, extents: Sequence[sl.Index | int], k_blocks: sl.Index
    ) -> None:
        self._order = _Rasterization(config, extents)
        self._k_blocks = k_blocks

    def work_tiles(self) -> Iterator[WorkTile]:
        """Loop over the CTA's tiles."""
        along_m, _ = self._order.config.cluster
        cluster, clusters = sl.block_id(0) // along_m, sl.grid_dim(0) // along_m
        number: sl.Index | int = 0
        for tile in sl.range(cluster, self._order.tiles, clusters):
            place = self._order.place(tile)
            first = number * self._k_blocks
            yield WorkTile(*place, tile, number, 0, self._k_blocks, first)
            number = number + 1


class ClusterSplitTileScheduler:
    """The CTAs of a cluster have an equal part of the K blocks of one tile each.

    Args:
        config: the configuration.
        extents: those of C.
        k_blocks: K blocks of a tile.
    """

    def __init__(
        self, config: Config, extents: Sequence[sl.Index | int], k_blocks: sl.Index
    ) -> None:
        self._order = _Rasterization(config, extents)
        self._k_blocks = k_blocks
        self._ctas = config.cluster_k
        #: The CTA's rank in its cluster, by which it comes in the order of K.
        self.rank = sl.block_id(0) % self._ctas

    def work_tiles(self) -> Iterator[WorkTile]:
        """Yield the CTA's part of its tile.

        With fewer K blocks than CTAs, a CTA without one takes the block after the last, whose elements
        are all out of bounds: TMA loads zeros.
        """
        k_blocks, tile = self._k_blocks, sl.block_id(0) // self._ctas
        begin = k_blocks * self.rank // self._ctas
        end = k_blocks * (self.rank + 1) // self._ctas
        count = sl.unsigned(end - begin)
        k_block = sl.where(count < 1, k_blocks, begin)
        yield WorkTile(*self._order.place(tile), tile, 0, k_block, sl.maximum(count, 1), 0)


class StreamKTileScheduler:
    """Stream-K: clusters share out the K blocks of the tiles that do not fill a wave.

    All K blocks of the first `streamed` tiles stand in one row, of which each cluster has an equal part;
    it begins and ends within a tile. The other tiles are whole, and fill waves. With fewer tiles than
    clusters, all are streamed: with a multiple of the tiles, this is split-K. Otherwise the tiles of the
    last wave are streamed together with those of a full one, so that a cluster has more than a tile's
    K blocks and few tiles have more than two parts (Osama et al., Stream-K, PPoPP 2023: the two-tile
    hybrid).

    Args:
        config: the configuration.
        extents: those of C.
        k_blocks: K blocks of a tile.
    """

    def __init__(
        self, config: Config, extents: Sequence[sl.Index | int], k_blocks: sl.Index
    ) -> None:
        self._order = _Rasterization(config, extents)
        self._k_blocks = k_blocks
        along_m, _ = config.cluster
        self._cluster = sl.block_id(0) // along_m
        self._clusters = sl.grid_dim(0) // along_m
        self._tiles = tiles = self._order.tiles
        last_wave = tiles % self._clusters
        with_a_wave = sl.minimum(last_wave + self._clusters, tiles)
        self.streamed = sl.where(last_wave < 1, last_wave, with_a_wave)
        self._in_row = self.streamed * k_blocks

    def work_tiles(self) -> Iterator[WorkTile]:
        """Loop over the parts of tiles that the CTA has, then over its whole tiles."""
        k_blocks, clusters = self._k_blocks, self._clusters
        begin, end = self._begin(self._cluster), self._begin(self._cluster + 1)
        first_tile = begin // k_blocks
        parts = sl.unsigned((end + (k_blocks - 1)) // k_blocks - first_tile)
        whole = sl.unsigned(self._tiles - self.streamed) // clusters
        first: sl.Index | int = 0
        for number in sl.range(parts + whole):
            is_part = number < parts
            whole_tile = self.streamed + self._cluster + sl.unsigned(number - parts) * clusters
            tile = sl.where(is_part, first_tile + number, whole_tile)
            start = sl.unsigned(sl.maximum(sl.signed(begin - tile * k_blocks), 0))
            stop = sl.unsigned(sl.minimum(sl.signed(end - tile * k_blocks), k_blocks))
            k_block = sl.where(is_part, start, 0)
            # Each part has a block. The maximum says so to the prover of the pipeline's order.
            count = sl.maximum(sl.unsigned(sl.where(is_part, stop, k_blocks) - k_block), 1)
            yield WorkTile(*self._order.place(tile), tile, number, k_block, count, first)
            first = first + count

    def parts(self, tile: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the first cluster that computes a part of a streamed tile, and how many do."""
        first = self._owner(tile * self._k_blocks)
        last = self._owner(tile * self._k_blocks + (self._k_blocks - 1))
        return first, sl.unsigned(last - first) + 1

    def _begin(self, cluster: sl.Index) -> sl.Index:
        """Return where a cluster's part of the row begins."""
        return cluster * self._in_row // self._clusters

    def _owner(self, block: sl.Index) -> sl.Index:
        """Return the cluster whose part of the row holds a K block: the last that begins there or before.

        `cluster * in_row // clusters <= at` is `cluster * in_row < (at + 1) * clusters`.
        """
        return sl.unsigned((block + 1) * self._clusters - 1) // self._in_row
