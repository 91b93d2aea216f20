"""Orders of tiles: which tiles of queries a CTA computes, one after the other.

The CTAs of the grid are there at the same time, as many as the multiprocessors hold. Those that run at
the same time should read the keys of the same heads, so that the L2 cache has them; and all should end at
about the same time, although a causal mask gives the last tiles of a head the most keys.
"""

from __future__ import annotations

from typing import Protocol

from .... import language as sl
from .division import divmod_u32


class TileOrder(Protocol):
    """The tiles of the CTA.

    Attributes:
        count: their number.
    """

    count: sl.Index

    def tile_at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the head and the tile of the head, of the tile of a number."""
        ...


class HeadByHead:
    """Head by head: for tiles that all have as many keys.

    Args:
        tiles: the tiles of a head.
        heads: the heads of all batches.
        cluster: CTAs of a cluster, whose tiles follow each other in one head; the last ones of them may
            be behind the head's last tile.
    """

    def __init__(self, tiles: sl.Index, heads: sl.Index, cluster: int = 1) -> None:
        self._cluster = cluster
        self._of_head = sl.cdiv(tiles, cluster) if cluster > 1 else tiles
        self._own, self._clusters = sl.block_id(0), sl.grid_dim(0)
        if cluster > 1:
            self._own, self._clusters = self._own // cluster, self._clusters // cluster
        rest = sl.maximum(self._of_head * heads - self._own, 0)
        self.count = sl.unsigned(rest + self._clusters - 1) // self._clusters

    def tile_at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """See `TileOrder`."""
        head, tile = divmod_u32(self._own + number * self._clusters, self._of_head)
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
        self._of_section = sl.minimum(sl.maximum(fit, 1), heads)
        sections, rest = heads // self._of_section, heads % self._of_section
        self._even, odd = self._count(self._of_section, 0), self._count(self._of_section, 1)
        self._of_two = self._even + odd
        of_rest = self._count(rest, sections % 2)
        self.count = (sections + 1) // 2 * self._even + sections // 2 * odd + of_rest

    def _count(self, heads: sl.Index, is_odd: sl.Index | int) -> sl.Index:
        """Return how many tiles of a section of so many heads the CTA takes."""
        total, grid = self._tiles * heads, sl.grid_dim(0)
        rounds = total // grid
        return rounds + sl.minimum(sl.maximum(total % grid - self._place(rounds + is_odd), 0), 1)

    @staticmethod
    def _place(turns: sl.Index) -> sl.Index:
        """Return the place of the CTA in a round, after the order has been turned so often."""
        odd, cta = turns % 2, sl.block_id(0)
        return cta * (1 - odd) + (sl.grid_dim(0) - 1 - cta) * odd

    def tile_at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """See `TileOrder`."""
        two, of_two = divmod_u32(number, sl.maximum(self._of_two, 1))
        is_odd = sl.minimum(sl.maximum(of_two - self._even + 1, 0), 1)
        round = sl.unsigned(of_two - self._even * is_odd)
        first = (2 * two + is_odd) * self._of_section
        heads = sl.unsigned(sl.minimum(self._heads - first, self._of_section))
        place = round * sl.grid_dim(0) + self._place(sl.unsigned(round + is_odd))
        rank, head = divmod_u32(place, heads)
        return first + head, sl.unsigned(self._tiles - 1 - rank)
