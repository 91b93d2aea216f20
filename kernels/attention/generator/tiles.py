"""Tiles of queries: which of them a CTA computes, and the blocks of keys that each of them sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from .... import language as sl
from .config import Config
from .division import divmod_u32
from .orders import HeadByHead, LongestFirst, TileOrder

#: What keys and values may take of the L2 cache, of which an H100 and an H200 have 50 MB.
_CACHED_BYTES = 32 << 20


class SequencePair(NamedTuple):
    """A sequence of queries and the one of its keys.

    Attributes:
        number: its number, or that of the batch.
        queries, keys: their lengths.
        query, key: the rows of the first query, and of the first key and value.
        hidden: how many of the keys, from the first one on, are of the sequence before; None for none.
    """

    number: sl.Index
    queries: sl.Index
    keys: sl.Index
    query: sl.Index | int
    key: sl.Index | int
    hidden: sl.Index | None = None


class PackedSequences(NamedTuple):
    """What is known of sequences that follow each other.

    Attributes:
        queries, keys: arrays with the row of the first query, and of the first key, of each sequence; one
            more element is where the last one ends.
        sequences: their number.
        longest: the length of the longest sequence of queries.
        multiple: what the row of a first key that is loaded is a multiple of.
    """

    queries: sl.Array
    keys: sl.Array
    sequences: sl.Index
    longest: sl.Index
    multiple: int

    def at(self, number: sl.Index) -> SequencePair:
        """Return a sequence by its number."""
        query, key, query_end, key_end = (
            sl.unsigned(starts[index].to(sl.index))
            for index in (number, number + 1)
            for starts in (self.queries, self.keys)
        )
        queries = sl.unsigned(query_end - query)
        hidden = None
        if self.multiple > 1:
            hidden = key % self.multiple
            key = sl.unsigned(key - hidden)
        return SequencePair(number, queries, sl.unsigned(key_end - key), query, key, hidden)


class QueryTile(NamedTuple):
    """A tile of queries of a head.

    Attributes:
        batch, head: the place of the head.
        sequence: its queries and keys.
        query: the first query.
        blocks: the number of blocks of keys that are read; one or more.
        masked: how many of the first of them, from the last one on, have keys that some query does not
            see because they are behind it.
        unmasked: how many of the blocks come before those that have keys too far before some query.
        last: the number of the last block.
        first: how many blocks the CTA has read before: the pipeline index of the first one.
        number: how many tiles the CTA has computed before.
        part: the number of the part of the keys that is read, of parts.
    """

    batch: sl.Index | int
    head: sl.Index
    sequence: SequencePair
    query: sl.Index
    blocks: sl.Index
    masked: sl.Index | int
    unmasked: sl.Index
    last: sl.Index
    first: sl.Index | int
    number: sl.Index
    part: sl.Index | int = 0


class ScheduledTile:
    """The place of a tile in the CTA's sequence, which is known before where the tile is.

    Attributes:
        number: how many tiles the CTA has computed before.
        first: how many blocks the CTA has read before: the pipeline index of the first one.
    """

    def __init__(
        self, number: sl.Index, first: sl.Index | int, locate: Callable[[ScheduledTile], QueryTile]
    ):
        self.number, self.first, self._locate = number, first, locate

    @cached_property
    def tile(self) -> QueryTile:
        """The tile; what computes where it is, is emitted where this is first asked for."""
        return self._locate(self)


class KeyMask(NamedTuple):
    """The keys of a block that a query sees, by their places in the block.

    Attributes:
        keys: the number of keys from the block's begin on, which may be more than the block has.
        end: one more than the last key that the query sees; None if it sees all.
        begin: the first key that the query sees; None if it sees all.
        queries: how many queries follow each other in rows, before those of another head.
        first: the first key that any query sees; None if that is the block's.
    """

    keys: sl.Index
    end: sl.Index | None
    begin: sl.Index | None
    queries: int
    first: sl.Index | None


class QueryTiles:
    """The tiles of a CTA; every role of the kernel runs the loop over their places.

    The query at place i of M sees the keys up to place i + N - M + right, and from i + N - M - left on:
    the last query sees the last key, as with FlashAttention's masks.

    Args:
        shape: the batches, heads and queries; heads that are in one tile are one.
        queries: the queries of a tile, of each head.
        sharing: the heads that share keys and values.
        keys: the number of keys, N.
        key_bytes: the bytes of a key and its value.
        left, right: how far a query sees before and behind its place; None if it sees all.
        config: the configuration.
        packed: sequences that follow each other, in place of batches; else None.
        parts: the number of parts of the keys of each head, whose queries are one tile; else None. No
            part is without a block.
    """

    def __init__(
        self,
        shape: tuple[sl.Index, sl.Index, sl.Index],
        queries: int,
        sharing: sl.Index,
        keys: sl.Index,
        key_bytes: int,
        left: sl.Index | None,
        right: sl.Index | None,
        config: Config,
        packed: PackedSequences | None = None,
        parts: sl.Index | None = None,
    ) -> None:
        self._batches, self._heads, self._queries = shape
        self._of_tile, self._sharing, self._key_bytes = queries, sharing, key_bytes
        self._packed, self._parts = packed, parts
        self._keys, self._left, self._right, self._config = keys, left, right, config

    def __iter__(self) -> Iterator[ScheduledTile]:
        order = self._order()

        def locate(place: ScheduledTile) -> QueryTile:
            head, tile = order.tile_at(place.number)
            if self._parts is not None:
                return self._part(head, tile, self._parts, place)
            return self._tile(head, tile * self._of_tile, place)

        first: sl.Index | int = 0
        for number in sl.range(0, order.count):
            place = ScheduledTile(number, first, locate)
            yield place
            first = first + place.tile.blocks

    def _order(self) -> TileOrder:
        count, longest, keys = self._batches, self._queries, self._keys
        if self._packed is not None:
            count, longest = self._packed.sequences, self._packed.longest
            keys = keys // sl.maximum(count, 1)
        tiles, heads = sl.cdiv(longest, self._of_tile), count * self._heads
        if self._parts is not None:
            return HeadByHead(self._parts, heads)
        if self._right is None or self._left is not None:
            return HeadByHead(tiles, heads, self._config.cluster)
        bytes_of_head = sl.maximum(keys, 1) * self._key_bytes
        return LongestFirst(tiles, heads, _CACHED_BYTES * self._sharing // bytes_of_head)

    def _tile(self, head: sl.Index, query: sl.Index, place: ScheduledTile) -> QueryTile:
        batch, head = divmod_u32(head, self._heads)
        sequence = SequencePair(batch, self._queries, self._keys, 0, 0)
        if self._packed is not None:
            sequence = self._packed.at(batch)
        end, blocks = self._blocks(query, sequence)
        shift, keys = sequence.keys - sequence.queries, self._config.keys
        masked: sl.Index | int = 1
        if self._right is not None:
            # The first query sees the fewest keys behind it.
            seen_by_all = sl.minimum(query + shift + self._right + 1, sequence.keys)
            behind = end - sl.unsigned(sl.maximum(seen_by_all, 0)) // keys
            masked = sl.minimum(blocks, sl.unsigned(sl.maximum(behind, 1)))
        unmasked = blocks
        # The first block has the keys of the sequence before.
        some: sl.Index | int | None = None if sequence.hidden is None else 1
        if self._left is not None:
            # The last query sees the fewest keys before it.
            begin = query + self._of_tile - 1 + shift - self._left
            of_left = sl.cdiv(sl.unsigned(sl.maximum(begin, 0)), keys) - (end - blocks)
            some = sl.unsigned(sl.maximum(of_left, some or 0))
        if some is not None:
            rest = sl.unsigned(blocks - masked)
            unmasked = sl.unsigned(blocks - sl.minimum(rest, some))
        return QueryTile(
            batch if self._packed is None else 0,
            head,
            sequence,
            query,
            blocks,
            masked,
            unmasked,
            sl.unsigned(end - 1),
            place.first,
            place.number,
        )

    def _part(
        self, head: sl.Index, part: sl.Index, parts: sl.Index, place: ScheduledTile
    ) -> QueryTile:
        """Return the only tile of a head, with a part of its blocks, from the last one on."""
        whole = self._tile(head, part * 0, place)
        blocks_of_part, _ = divmod_u32(sl.unsigned(whole.blocks + parts - 1), parts)
        before = part * blocks_of_part
        blocks = sl.unsigned(sl.maximum(sl.minimum(whole.blocks - before, blocks_of_part), 1))
        masked = whole.masked
        if isinstance(masked, sl.Index):
            masked = sl.unsigned(sl.minimum(sl.maximum(masked - before, 1), blocks))
        return whole._replace(
            blocks=blocks,
            masked=masked,
            unmasked=blocks,
            last=sl.unsigned(whole.last - before),
            part=part,
        )

    def _blocks(self, query: sl.Index, sequence: SequencePair) -> tuple[sl.Index, sl.Index]:
        """Return one more than the number of the last block that queries of a tile see, and how many
        blocks they see: one where they see no key, or there is no query."""
        block, shift = self._config.keys, sequence.keys - sequence.queries
        seen = sequence.keys
        if self._right is not None:
            behind = query + self._of_tile + shift + self._right
            seen = sl.minimum(behind, seen)
        if self._packed is not None:
            seen = seen * sl.minimum(sl.maximum(sequence.queries - query, 0), 1)
        end = sl.cdiv(sl.unsigned(sl.maximum(seen, 1)), block)
        if self._left is None:
            return end, end
        begin = sl.unsigned(sl.maximum(query + shift - self._left, 0)) // block
        return end, sl.unsigned(end - sl.minimum(begin, sl.unsigned(end - 1)))

    def key_mask(self, tile: QueryTile, query: sl.Index, block: sl.Index | int) -> KeyMask:
        """Return what a query sees of a block.

        Args:
            tile: the tile.
            query: the query.
            block: how many blocks of the tile come before.
        """
        key, sequence = (tile.last - block) * self._config.keys, tile.sequence
        place = query + sequence.keys - sequence.queries - key
        return KeyMask(
            sequence.keys - key,
            None if self._right is None else place + self._right + 1,
            None if self._left is None else place - self._left,
            self._of_tile,
            None if sequence.hidden is None else sequence.hidden - key,
        )
