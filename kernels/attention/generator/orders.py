"""Orders of tiles: the tiles of queries that a CTA computes, one after the other.

All CTAs of the grid run at the same time, as many as fit the multiprocessors. They should read the keys
of the same heads, so that the L2 cache has them. All should end at about the same time, although a causal
mask gives the last tiles of a head the most keys.
"""

from __future__ import annotations

from typing import Protocol

from .... import language as sl
from .division import divmod_u32


class QueryTileOrder(Protocol):
    """The order of the CTA's tiles.

    Attributes:
        count: the number of tiles.
    """

    count: sl.Index

    def tile_at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the head, and the tile's number in the head, of the CTA's tile of a number."""
        ...


class HeadByHead:
    """Head by head, for tiles with equal numbers of keys.

    Args:
        tiles: the tiles of a head.
        heads: the heads of all batches.
        cluster: CTAs of a cluster, whose tiles are adjacent in one head. Their last tiles may lie beyond
            the head's last tile.
    """

    def __init__(self, tiles: sl.Index, heads: sl.Index, cluster: int = 1) -> None:
        self._cluster = cluster
        self._head_clusters = sl.cdiv(tiles, cluster) if cluster > 1 else tiles
        self._cluster_id, self._clusters = sl.block_id(0), sl.grid_dim(0)
        if cluster > 1:
            self._cluster_id, self._clusters = (
                self._cluster_id // cluster,
                self._clusters // cluster,
            )
        remaining = sl.maximum(self._head_clusters * heads - self._cluster_id, 0)
        self.count = sl.unsigned(remaining + self._clusters - 1) // self._clusters

    def tile_at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """See `QueryTileOrder`."""
        head, tile = divmod_u32(self._cluster_id + number * self._clusters, self._head_clusters)
        if self._cluster > 1:
            tile = tile * self._cluster + sl.block_id(0) % self._cluster
        return head, tile


class LongestFirst:
    """The last tiles of heads first, for tiles that have more keys than the ones before them.

    Heads come in sections, whose keys and values stay in the L2 cache. The CTAs take the tiles of a
    section in rounds, each of them in the opposite order of the round before, so that a CTA that has had
    more keys than others then has fewer: a section has an even number of rounds, where heads are short
    enough. Every other section begins with the opposite order.

    Args:
        tiles, heads: as for `HeadByHead`.
        cached: the heads whose keys and values fit into the L2 cache.
    """

    def __init__(self, tiles: sl.Index, heads: sl.Index, cached: sl.Index) -> None:
        self._tiles, self._heads = tiles, heads
        two_rounds = sl.grid_dim(0) * 2
        fit = two_rounds * sl.maximum(cached * tiles // two_rounds, 1) // tiles
        self._section_heads = sl.minimum(sl.maximum(fit, 1), heads)
        sections, last_heads = heads // self._section_heads, heads % self._section_heads
        self._even, odd = self._count(self._section_heads, 0), self._count(self._section_heads, 1)
        self._pair_tiles = self._even + odd
        last = self._count(last_heads, sections % 2)
        self.count = (sections + 1) // 2 * self._even + sections // 2 * odd + last

    def _count(self, heads: sl.Index, is_odd: sl.Index | int) -> sl.Index:
        """Return the number of the CTA's tiles in a section of `heads` heads."""
        total, grid = self._tiles * heads, sl.grid_dim(0)
        rounds = total // grid
        return rounds + sl.minimum(sl.maximum(total % grid - self._rank(rounds + is_odd), 0), 1)

    @staticmethod
    def _rank(reversals: sl.Index) -> sl.Index:
        """Return the rank of the CTA in a round, after so many reversals of the order."""
        odd, cta = reversals % 2, sl.block_id(0)
        return cta * (1 - odd) + (sl.grid_dim(0) - 1 - cta) * odd

    def tile_at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """See `QueryTileOrder`."""
        pair, in_pair = divmod_u32(number, sl.maximum(self._pair_tiles, 1))
        is_odd = sl.minimum(sl.maximum(in_pair - self._even + 1, 0), 1)
        round = sl.unsigned(in_pair - self._even * is_odd)
        first = (2 * pair + is_odd) * self._section_heads
        heads = sl.unsigned(sl.minimum(self._heads - first, self._section_heads))
        position = round * sl.grid_dim(0) + self._rank(sl.unsigned(round + is_odd))
        rank, head = divmod_u32(position, heads)
        return first + head, sl.unsigned(self._tiles - 1 - rank)
