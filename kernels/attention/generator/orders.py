"""Orders of tiles: which tiles of queries a CTA computes, one after the other.

The CTAs of the grid are there at the same time, as many as the multiprocessors hold. Those that run at
the same time should read the keys of the same heads, so that the L2 cache has them; and all should end at
about the same time, although a causal mask gives the last tiles of a head the most keys.
"""

from __future__ import annotations

from typing import Protocol

from .... import language as sl


class Order(Protocol):
    """The tiles of the CTA.

    Attributes:
        count: their number.
    """

    count: sl.Index

    def at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the head and the tile of the head, of the tile of a number."""
        ...


class HeadByHead:
    """Head by head: for tiles that all have as many keys.

    Args:
        tiles: the tiles of a head.
        heads: the heads of all batches.
    """

    def __init__(self, tiles: sl.Index, heads: sl.Index) -> None:
        self._tiles = tiles
        self.count = _of_cta(tiles * heads)

    def at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """See `Order`."""
        place = _item(number)
        return place // self._tiles, place % self._tiles


class Pairs:
    """Head by head, in pairs of the last tile of a head and the first, the second last and the second,
    and so on: pairs have the same number of keys. Middle tiles of heads come behind all pairs.

    Args:
        tiles, heads: as for `HeadByHead`.
    """

    def __init__(self, tiles: sl.Index, heads: sl.Index) -> None:
        self._tiles, self._pairs_of_head = tiles, tiles // 2
        self._pairs = self._pairs_of_head * heads
        self._own = _of_cta(self._pairs)
        self.count = self._own + _of_cta(self._pairs + heads * (tiles % 2))

    def at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """See `Order`."""
        is_pair = sl.minimum(sl.maximum(2 * self._own - number, 0), 1)
        of_pair, of_middle = number // 2, number - self._own
        item = _item(sl.unsigned(of_pair * is_pair + of_middle * (1 - is_pair)))
        # A head has a pair or more wherever there is one.
        each = sl.maximum(self._pairs_of_head, 1)
        rank, is_last = item % each, 1 - number % 2
        tile = (self._tiles - 1 - rank) * is_last + rank * (1 - is_last)
        head = item // each * is_pair + (item - self._pairs) * (1 - is_pair)
        return sl.unsigned(head), sl.unsigned(tile * is_pair + self._pairs_of_head * (1 - is_pair))


class LongestFirst:
    """The last tiles of all heads first, for few tiles. Each round of the grid takes them in the opposite
    order of the round before: a CTA that has had more keys than others then has fewer.

    Args:
        tiles, heads: as for `HeadByHead`.
    """

    def __init__(self, tiles: sl.Index, heads: sl.Index) -> None:
        self._tiles, self._heads = tiles, heads
        total, grid = tiles * heads, sl.grid_dim(0)
        rounds = total // grid
        is_in_last = sl.minimum(sl.maximum(total % grid - self._place(rounds), 0), 1)
        self.count = rounds + is_in_last

    @staticmethod
    def _place(round: sl.Index) -> sl.Index:
        """Return the place of the CTA in a round."""
        odd, own = round % 2, sl.block_id(0)
        return own * (1 - odd) + (sl.grid_dim(0) - 1 - own) * odd

    def at(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """See `Order`."""
        place = sl.unsigned(number * sl.grid_dim(0) + self._place(number))
        return place % self._heads, sl.unsigned(self._tiles - 1 - place // self._heads)


#: By the name in a configuration.
ORDERS = {"heads": HeadByHead, "pairs": Pairs, "longest": LongestFirst}


def _item(number: sl.Index) -> sl.Index:
    """Return the item of a number of the CTA, of items that the CTAs take in turn."""
    return sl.block_id(0) + number * sl.grid_dim(0)


def _of_cta(items: sl.Index) -> sl.Index:
    """Return how many of some items the CTA takes, of items that the CTAs take in turn."""
    rest = sl.maximum(items - sl.block_id(0), 0)
    return sl.unsigned(rest + sl.grid_dim(0) - 1) // sl.grid_dim(0)
