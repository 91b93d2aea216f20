"""Tiles of Q, and blocks of K and V, on their way from the loading threads to the tensor cores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .... import language as sl
from ....dialect import ops as smem
from ....layout.elements import UNIT_BYTES
from ....layout.wgmma import INSTRUCTION_M
from .config import Config
from .division import divmod_u32
from .softmax import (
    RowState,
    first_rows,
    mask_scores,
    next_rows,
    rescale,
    rescale_last,
    results,
    weights,
)
from .tiles import PackedSequences, QueryTile, QueryTiles, ScheduledTile

#: The columns of O up to which its multiplication takes less time than the product with the keys; fewer
#: where a mask lets CTAs read other blocks at the same time, so that values come late. Measured.
_MOST_COLUMNS, _MOST_MASKED = 192, 128

#: Keys and values stay in the L2 cache longest: other tiles of their head read them.
_CACHED = "evict_last"

#: The largest weights of e4m3 are 2 to the power of this: rounded, weights then are 0 from 2^-18 on.
_POWER = 8


class Blocks:
    """The tiles of Q, and the blocks of K and V, in pipelines between loading threads and consumers.

    Args:
        arrays: by name, as `build` has them.
        config: the configuration.
        heads: how many heads have their queries in one tile.
    """

    def __init__(self, arrays: Mapping[str, Any], config: Config, heads: int) -> None:
        self._arrays, self._config, self._heads = arrays, config, heads
        # The queries of each head in a tile.
        self._head_queries = config.rows // heads
        q, v = arrays["Q"], arrays["V"]
        batches, all_heads, queries, dim = q.shape
        tile_heads = all_heads // heads if heads > 1 else all_heads
        self._multicast = "x" if config.cluster > 1 else None
        self._sharing = tile_heads // v.shape[1]
        self._packed = None
        if "longest" in arrays:
            starts = arrays["U"], arrays["W"]
            sequences = sl.unsigned(starts[0].shape[0] - 1)
            # TMA begins at a multiple of 16 bytes along the keys, which values of e4m3 are contiguous in.
            multiple = UNIT_BYTES if "factor" in arrays else 1
            self._packed = PackedSequences(*starts, sequences, arrays["longest"], multiple)
        self.tiles = QueryTiles(
            (batches, tile_heads, queries),
            self._head_queries,
            self._sharing,
            v.shape[2],
            2 * dim * q.dtype.bits // 8,
            arrays.get("left"),
            arrays.get("right"),
            config,
            self._packed,
            arrays["O"].shape[0] if self._is_split else None,
        )
        stages, keys = config.stages, config.keys
        self._q = sl.alloc((config.query_stages, config.rows, dim), q.dtype)
        self._k = sl.alloc((stages, dim, keys), q.dtype)
        self._v = sl.alloc((stages, keys, dim), q.dtype)
        self._queries = sl.pipeline(config.query_stages, consumers=config.consumers)
        self._keys = sl.pipeline(stages, consumers=config.consumers)
        self._values = sl.pipeline(stages, consumers=config.consumers)

    @property
    def _stores_through_queries(self) -> bool:
        """Whether O is stored by TMA, from the memory of the tile's queries.

        The next ones must be loaded beside them, and TMA would store rows of the next sequence. Elements
        must be of one size. A tile of several heads has few queries of each.
        """
        fits = self._arrays["O"].dtype == self._arrays["Q"].dtype and self._heads == 1
        return self._config.query_stages > 1 and self._packed is None and fits

    @property
    def _is_split(self) -> bool:
        """Whether the results are those of parts of the keys."""
        return len(self._arrays["O"].shape) > len(self._arrays["Q"].shape)

    # The producer.

    def load_queries(self) -> None:
        """Load the queries of every tile; one thread runs this."""
        if self._stores_through_queries:
            # Consumers release an index when the next tile's scores have been issued. Nothing reads the
            # first index.
            self._load_tile(0, 0, 0, 0)
        for scheduled in self.tiles:
            tile = scheduled.tile
            row = tile.sequence.query + tile.query
            self._load_tile(self._query_index(scheduled), tile.batch, tile.head, row)

    def _load_tile(
        self,
        index: sl.Index | int,
        batch: sl.Index | int,
        head: sl.Index | int,
        row: sl.Index | int,
    ) -> None:
        with self._queries.producer(index) as stage:
            rows = sl.ds(row, self._head_queries)
            if self._heads == 1:
                sl.tma_load(self._arrays["Q"][batch, head, rows, :], self._q[stage], stage)
                return
            for head_of_tile in range(self._heads):
                window = self._arrays["Q"][batch, self._heads * head + head_of_tile, rows, :]
                head_rows = sl.ds(head_of_tile * self._head_queries, self._head_queries)
                sl.tma_load(window, self._q[stage][head_rows, :], stage)

    def _query_index(self, scheduled: ScheduledTile) -> sl.Index | int:
        """Return the pipeline index of a tile's queries."""
        return scheduled.number + 1 if self._stores_through_queries else scheduled.number

    def load(self) -> None:
        """Load the blocks of every tile, from the last one on; one thread runs this. The keys of a block
        come before the values of the block before it, as the consumers take them."""
        for scheduled in self.tiles:
            tile = scheduled.tile
            self._load_keys(tile, 0)
            for block in sl.range(1, tile.blocks):
                self._load_keys(tile, block)
                self._load_values(tile, sl.unsigned(block - 1))
            self._load_values(tile, sl.unsigned(tile.blocks - 1))

    def _load_keys(self, tile: QueryTile, block: sl.Index | int) -> None:
        with self._keys.producer(tile.first + block) as stage:
            window = self._arrays["K"][*self._head(tile), :, self._rows(tile, block)]
            sl.tma_load(window, self._k[stage], stage, self._multicast, _CACHED)

    def _load_values(self, tile: QueryTile, block: sl.Index) -> None:
        with self._values.producer(tile.first + block) as stage:
            window = self._arrays["V"][*self._head(tile), self._rows(tile, block), :]
            sl.tma_load(window, self._v[stage], stage, self._multicast, _CACHED)

    def _head(self, tile: QueryTile) -> tuple[sl.Index | int, sl.Index]:
        """Return the batch and the head of the keys and values that a tile's queries see."""
        return tile.batch, divmod_u32(tile.head, self._sharing)[0]

    def _rows(self, tile: QueryTile, block: sl.Index | int) -> Any:
        """Return the rows of the keys of a block."""
        key = sl.unsigned(tile.last - block) * self._config.keys
        return sl.ds(tile.sequence.key + key, self._config.keys)

    # The consumers.

    def begin(self) -> None:
        """Wait for the first index of queries, which nothing reads."""
        if self._stores_through_queries:
            self._queries.wait(0)

    def end(self) -> None:
        """Wait until the last rows of O have been read by TMA."""
        if self._stores_through_queries:
            with sl.elect():
                sl.tma_wait(0, read=True)

    def queries(self, scheduled: ScheduledTile) -> sl.Tile:
        """Wait for the queries of a tile, and return them."""
        return self._q[self._queries.wait(sl.make_warp_uniform(self._query_index(scheduled)))]

    def first_scores(self, scheduled: ScheduledTile, q: sl.Tile) -> sl.Fragment:
        """Issue the product of a warpgroup's queries and the first block of keys, and return it."""
        self._keys.wait(scheduled.first)
        k = self._k[self._stage(sl.make_warp_uniform(scheduled.first))]
        with sl.ordered():
            s = sl.mma(q, k)
        if self._stores_through_queries:
            self._release_stored(scheduled.number)
        return s

    def attend(
        self, tile: QueryTile, q: sl.Tile, warpgroup_rows: Any, s: sl.Fragment
    ) -> tuple[sl.Fragment, RowState]:
        """Return the weighted sums of the values that a warpgroup's queries see, and the rows' sums.

        Args:
            tile: the tile.
            q: the warpgroup's queries.
            warpgroup_rows: their rows of the tile.
            s: the scores of the first block, in flight.
        """
        scale, power = self._scale(tile), self._power
        # O is multiplied, and values are waited for, when the product with the keys has been issued,
        # unless that keeps other warpgroups from their turns, or the tensor cores end before it.
        late = q.shape[1] > (_MOST_MASKED if "right" in self._arrays else _MOST_COLUMNS)
        early = self._config.consumers > 2 or late
        s = sl.wait(s)
        self._keys.release(tile.first)
        s = mask_scores(s, self.tiles.key_mask(tile, self._first_query(tile, warpgroup_rows), 0))
        if not late:
            self._values.wait(tile.first)
        p, rows, shrink = weights(s, scale, first_rows(s), power)
        p = self._as_a_operand(p)
        o = sl.zeros((INSTRUCTION_M, q.shape[1]), sl.f32)
        for begin, end, is_masked in self._block_ranges(tile):
            for block in sl.range(begin, end):
                # The shuffle takes as long as the wait.
                index = sl.make_warp_uniform(tile.first + block)
                self._keys.wait(tile.first + block)
                if late:
                    self._values.wait(index - 1)
                k, v = self._k[self._stage(index)], self._v[self._stage(index - 1)]
                # While the products of one warpgroup run, others compute exponentials.
                with sl.ordered():
                    s = sl.mma(q, k)
                    o = sl.mma(p, v, o if early else rescale(o, shrink))
                s = sl.wait(s, pending=1, in_flight=False)
                self._keys.release(index)
                if is_masked:
                    s = mask_scores(
                        s, self.tiles.key_mask(tile, self._first_query(tile, warpgroup_rows), block)
                    )
                rows = next_rows(s, rows)
                # ptxas moves a wait for products before the arithmetic of its basic block, which begins
                # at this wait and ends with the loop. So exponentials hide all else in it.
                self._values.wait(index - 1 if late else index)
                o = sl.wait(o)
                self._values.release(index - 1)
                p, rows, shrink = weights(s, scale, rows, power)
                p = self._as_a_operand(p)
                if early:
                    o = rescale(o, shrink)
        if not self._stores_through_queries:
            self._queries.release(tile.number)
        last = tile.first + sl.unsigned(tile.blocks - 1)
        if late:
            self._values.wait(last)
        v = self._v[self._stage(last)]
        o = sl.wait(sl.mma(p, v, o if early else rescale_last(o, shrink)))
        self._values.release(last)
        return o, rows

    def _first_query(self, tile: QueryTile, warpgroup_rows: Any) -> sl.Index:
        """Return the first query of a warpgroup's rows."""
        return tile.query + warpgroup_rows.start if self._heads == 1 else tile.query

    @property
    def _power(self) -> int:
        """The `power` of `weights`: e4m3 has few small numbers."""
        return _POWER if "factor" in self._arrays else 0

    def _scale(self, tile: QueryTile) -> sl.Scalar:
        """Return the factor of a tile's scores, for powers of two."""
        return self._apply_descales(self._arrays["scale"], "qk", tile)

    def _factor(self, tile: QueryTile) -> sl.Scalar | float:
        """Return the factor of a tile's values."""
        return self._apply_descales(self._arrays["factor"], "v", tile) if self._power else 1.0

    def _apply_descales(self, number: sl.Scalar, names: str, tile: QueryTile) -> sl.Scalar:
        """Return a number times the factors of a tile's elements of some of Q, K and V."""
        for name in names:
            factors = self._arrays.get(f"{name}_descale")
            if factors is not None:
                number = number * factors[tile.sequence.number, self._head(tile)[1]]
        return number

    def _stage(self, index: sl.Index) -> sl.Index:
        """Return the stage of a block whose arrival has been waited for."""
        return sl.unsigned(index) % self._config.stages

    def _block_ranges(self, tile: QueryTile) -> list[tuple[Any, Any, bool]]:
        """Return ranges (begin, end, is masked) of the blocks after the first one. A range is masked if
        some query does not see all keys of a block."""
        ranges: list[tuple[sl.Index | int, sl.Index, bool]] = []
        if isinstance(tile.masked, sl.Index):
            ranges.append((1, tile.masked, True))
        ranges.append((tile.masked, tile.unmasked, False))
        if tile.unmasked is not tile.blocks:
            ranges.append((tile.unmasked, tile.blocks, True))
        # ptxas then takes the warps in the loop for converged.
        uniform = sl.make_warp_uniform
        return [(uniform(begin), uniform(end), is_masked) for begin, end, is_masked in ranges]

    def _as_a_operand(self, weights: sl.Fragment) -> sl.Fragment:
        """Return weights as the first operand of a product, in registers."""
        return sl.op(smem.convert, weights, self._k.dtype.type)

    def finish(
        self, tile: QueryTile, o: sl.Fragment, rows: RowState, q: sl.Tile, warpgroup_rows: Any
    ) -> None:
        """Store a warpgroup's rows of O, and of L.

        Args:
            tile, q, warpgroup_rows: as for `attend`.
            o, rows: the results of `attend`.
        """
        inverse, lse = results(rows, self._scale(tile), self._power, self._factor(tile))
        position, row_count = self._output_rows(tile, warpgroup_rows)
        window = self._arrays["O"][*position, :]
        if "L" in self._arrays:
            sl.store(lse, self._arrays["L"][position], rows=row_count)
        if self._stores_through_queries:
            self._store_through(q, o * inverse, window)
        else:
            # The next queries are loaded meanwhile.
            sl.store(o * inverse, window, rows=row_count)

    def _output_rows(
        self, tile: QueryTile, warpgroup_rows: Any
    ) -> tuple[tuple[Any, ...], sl.Index | None]:
        """Return the indices of a warpgroup's rows in L, and the number of rows for each head; None for
        all."""
        first = self._first_query(tile, warpgroup_rows)
        row_count, row = tile.sequence.queries - first, tile.sequence.query + first
        rows = tile.batch, tile.head, sl.ds(row, INSTRUCTION_M)
        if self._is_split:
            # Where a tile has several heads, rows without a query are between others.
            return (tile.part, *rows), row_count if self._heads == 1 else None
        if self._heads == 1:
            return rows, row_count
        first_head = (
            self._heads * tile.head + sl.unsigned(warpgroup_rows.start) // self._head_queries
        )
        heads = sl.ds(first_head, INSTRUCTION_M // self._head_queries)
        return (tile.batch, heads, sl.ds(row, self._head_queries)), row_count

    def _store_through(self, q: sl.Tile, o: sl.Fragment, window: sl.Window) -> None:
        """Store rows of O by TMA, through the memory of their queries."""
        # Every warp has waited for the products that read Q.
        sl.warpgroup_barrier()
        sl.store(o, q)
        sl.fence()
        sl.warpgroup_barrier()
        with sl.elect():
            sl.tma_store(q, window)
            sl.tma_commit()

    def _release_stored(self, index: sl.Index | int) -> None:
        """Release queries when the rows of O that took their memory have been read."""
        with sl.elect():
            sl.tma_wait(0, read=True)
        self._queries.release(index)
