"""Tiles of queries of a CTA, and the blocks of keys that each of them sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from .... import language as sl
from .config import Config
from .division import divmod_u32
from .orders import HeadByHead, LongestFirst, QueryTileOrder

#: Bytes of keys and values in the L2 cache, of which an H100 and an H200 have 50 MB.
_CACHED_BYTES = 32 << 20


class SequencePair(NamedTuple):
    """A sequence of queries and the sequence of its keys.

    Attributes:
        number: the number of the sequences, or of the batch.
        queries, keys: their lengths.
        query, key: the rows of the first query, and of the first key and value.
        hidden: the number of first keys that belong to the sequence before; None for none.
    """

    number: sl.Index
    queries: sl.Index
    keys: sl.Index
    query: sl.Index | int
    key: sl.Index | int
    hidden: sl.Index | None = None


class PackedSequences(NamedTuple):
    """Sequences that follow each other.

    Attributes:
        queries, keys: arrays with the row of the first query, and of the first key, of each sequence; the
            last element is the end of the last sequence.
        sequences: the number of sequences.
        longest: the length of the longest sequence of queries.
        multiple: the row of the first loaded key is a multiple of this.
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
    """A tile of queries of a head. Its blocks of keys are read from the last one on.

    Attributes:
        batch, head: the indices of the head.
        sequence: its queries and keys.
        query: the first query.
        blocks: the number of blocks of keys that are read; one or more.
        masked: the number of first blocks with keys behind some query, which does not see them.
        unmasked: the number of blocks before those with keys too far before some query.
        last: the number of the last block in the sequence, which is read first.
        first: the number of blocks that the CTA has read before: the pipeline index of the first one.
        number: the number of tiles that the CTA has computed before.
        part: the number of the part of the keys that is read, if keys are split.
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
    """A tile in the CTA's order, whose coordinates are computed at the first use of `tile`.

    Attributes:
        number: the number of tiles that the CTA has computed before.
        first: the number of blocks that the CTA has read before: the pipeline index of the first one.
    """

    def __init__(
        self, number: sl.Index, first: sl.Index | int, locate: Callable[[ScheduledTile], QueryTile]
    ):
        self.number, self.first, self._locate = number, first, locate

    @cached_property
    def tile(self) -> QueryTile:
        """The tile; the ops that compute its coordinates are built at the first use."""
        return self._locate(self)


class KeyMask(NamedTuple):
    """The mask of a query: the keys of a block that it sees, by their positions in the block.

    Attributes:
        keys: the number of keys from the block's begin on, which may be more than the block has.
        end: the position after the last key that the query sees; None if it sees all.
        begin: the position of the first key that the query sees; None if it sees all.
        queries: the number of adjacent rows with queries of one head.
        first: the position of the first key that any query sees; None for the block's first.
    """

    keys: sl.Index
    end: sl.Index | None
    begin: sl.Index | None
    queries: int
    first: sl.Index | None


class QueryTiles:
    """The tiles of a CTA; every role of the kernel iterates over them.

    Query i of M sees the keys from i + N - M - left to i + N - M + right: the last query sees the last
    key, as with FlashAttention's masks.

    Args:
        shape: the batches, heads and queries; heads that are in one tile are one.
        queries: the queries of a tile, of each head.
        sharing: the heads that share keys and values.
        keys: the number of keys, N.
        key_bytes: the bytes of a key and its value.
        left, right: the numbers of keys that a query sees before and behind it; None if it sees all.
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
        self._tile_queries, self._sharing, self._key_bytes = queries, sharing, key_bytes
        self._packed, self._parts = packed, parts
        self._keys, self._left, self._right, self._config = keys, left, right, config

    def __iter__(self) -> Iterator[ScheduledTile]:
        order = self._order()

        def locate(scheduled: ScheduledTile) -> QueryTile:
            head, tile = order.tile_at(scheduled.number)
            if self._parts is not None:
                return self._part(head, tile, self._parts, scheduled)
            return self._tile(head, tile * self._tile_queries, scheduled)

        first: sl.Index | int = 0
        for number in sl.range(0, order.count):
            scheduled = ScheduledTile(number, first, locate)
            yield scheduled
            first = first + scheduled.tile.blocks

    def _order(self) -> QueryTileOrder:
        count, longest, keys = self._batches, self._queries, self._keys
        if self._packed is not None:
            count, longest = self._packed.sequences, self._packed.longest
            keys = keys // sl.maximum(count, 1)
        tiles, heads = sl.cdiv(longest, self._tile_queries), count * self._heads
        if self._parts is not None:
            return HeadByHead(self._parts, heads)
        if self._right is None or self._left is not None:
            return HeadByHead(tiles, heads, self._config.cluster)
        bytes_of_head = sl.maximum(keys, 1) * self._key_bytes
        return LongestFirst(tiles, heads, _CACHED_BYTES * self._sharing // bytes_of_head)

    def _tile(self, head: sl.Index, query: sl.Index, scheduled: ScheduledTile) -> QueryTile:
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
        masked_left: sl.Index | int | None = None if sequence.hidden is None else 1
        if self._left is not None:
            # The last query sees the fewest keys before it.
            begin = query + self._tile_queries - 1 + shift - self._left
            before_window = sl.cdiv(sl.unsigned(sl.maximum(begin, 0)), keys) - (end - blocks)
            masked_left = sl.unsigned(sl.maximum(before_window, masked_left or 0))
        if masked_left is not None:
            after_masked = sl.unsigned(blocks - masked)
            unmasked = sl.unsigned(blocks - sl.minimum(after_masked, masked_left))
        return QueryTile(
            batch if self._packed is None else 0,
            head,
            sequence,
            query,
            blocks,
            masked,
            unmasked,
            sl.unsigned(end - 1),
            scheduled.first,
            scheduled.number,
        )

    def _part(
        self, head: sl.Index, part: sl.Index, parts: sl.Index, scheduled: ScheduledTile
    ) -> QueryTile:
        """Return the only tile of a head, with a part of its blocks, from the last one on."""
        whole = self._tile(head, part * 0, scheduled)
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
            behind = query + self._tile_queries + shift + self._right
            seen = sl.minimum(behind, seen)
        if self._packed is not None:
            seen = seen * sl.minimum(sl.maximum(sequence.queries - query, 0), 1)
        end = sl.cdiv(sl.unsigned(sl.maximum(seen, 1)), block)
        if self._left is None:
            return end, end
        begin = sl.unsigned(sl.maximum(query + shift - self._left, 0)) // block
        return end, sl.unsigned(end - sl.minimum(begin, sl.unsigned(end - 1)))

    def key_mask(self, tile: QueryTile, query: sl.Index, block: sl.Index | int) -> KeyMask:
        """Return the mask of a query for a block.

        Args:
            tile: the tile.
            query: the query.
            block: the number of blocks of the tile that are read before.
        """
        key, sequence = (tile.last - block) * self._config.keys, tile.sequence
        position = query + sequence.keys - sequence.queries - key
        return KeyMask(
            sequence.keys - key,
            None if self._right is None else position + self._right + 1,
            None if self._left is None else position - self._left,
            self._tile_queries,
            None if sequence.hidden is None else sequence.hidden - key,
        )
