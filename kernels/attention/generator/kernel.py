"""The attention kernel: a producer warpgroup loads blocks by TMA, consumer warpgroups multiply.

It is FlashAttention's algorithm (Dao, 2023) with the roles of FlashAttention-3 (Shah et al., 2024):
scores and weights stay in registers, and the products of the next keys and of the values before them run
at the same time. The kernel is persistent; it is written in the kernel language, and its waits and fences
are its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Any

from .... import language as sl
from ....dialect import new_context
from ....dialect import ops as smem
from ....language.build import Options
from ....language.traced_function import TracedFunction
from ....layout.wgmma import INSTRUCTION_M
from .config import ITEM_BYTES, REGISTERS, Config
from .division import divided
from .problem import Problem
from .softmax import (
    Rows,
    first_rows,
    multiplied,
    multiplied_last,
    next_rows,
    results,
    visible,
    weights,
)
from .tiles import Packed, Place, Tile, Tiles

#: The columns of O up to which its multiplication takes less time than the product with the keys; fewer
#: where a mask lets CTAs read other blocks at the same time, so that values come late. Measured.
_MOST_COLUMNS, _MOST_MASKED = 192, 128


def build(problem: Problem, config: Config) -> Any:
    """Build a module with the kernel `attention(Q, K, V, O, L, U, W, longest, scale, left, right)`.

    Q and O are (B, H, M, d), K (B, G, d, N), V (B, G, N, d), with H a multiple of G; d is contiguous.
    L (B, H, M) has the logarithms of the sums of exponentials. `scale` includes log2(e).

    Of packed sequences, B is 1, and U and W, of i32, have the first row of the queries and of the keys of
    each sequence, and where the last one ends; `longest` is the most queries of a sequence. What the
    problem has not is missing.

    Of a split problem, O (Z, B, H, R, d) and L (Z, B, H, R) of f32 have the results of Z parts of the
    keys, as `combine_text` takes them.

    Raises:
        ConfigError: if the configuration does not fit the problem.
    """
    config.check(problem)
    dim = problem.dim
    shapes = {
        "Q": f"(B,H,M,{dim}):(?,?,?,1)",
        "K": f"(B,G,{dim},N):(?,?,1,?)",
        "V": f"(B,G,N,{dim}):(?,?,?,1)",
        "O": f"(B,H,M,{dim}):(?,?,?,1)",
    }
    types: dict[str, Any] = dict.fromkeys(shapes, problem.element)
    of_lse = "(B,H,M):(?,?,1)"
    if problem.split:
        shapes["O"], types["O"] = f"(Z,B,H,R,{dim}):(?,?,?,?,1)", "f32"
        of_lse = "(Z,B,H,R):(?,?,?,1)"
    for name, is_there, shape, type_ in (
        ("L", problem.lse or problem.split, of_lse, "f32"),
        ("U", problem.packed, "(S)", "i32"),
        ("W", problem.packed, "(S)", "i32"),
        ("longest", problem.packed, "()", "index"),
        ("scale", True, "()", "f32"),
        ("left", problem.left, "()", "index"),
        ("right", problem.right, "()", "index"),
    ):
        if is_there:
            shapes[name], types[name] = shape, type_

    def attention(*given: Any) -> None:
        _attention(dict(zip(shapes, given, strict=True)), config)

    attention.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_ONLY) for name in shapes]
    )
    options = Options(1 + config.consumers, (config.cluster,), min_blocks=1)
    return TracedFunction(attention, ", ".join(shapes.values()), options).trace(*types.values())


def text(problem: Problem, config: Config) -> str:
    """Return the kernel as text; arguments as for `build`."""
    with new_context():
        return str(build(problem, config))


def _attention(arrays: Mapping[str, Any], config: Config) -> None:
    """Compute O, and L if it is there, of Q, K and V."""
    blocks = _Blocks(arrays, config)
    producer_registers, consumer_registers = REGISTERS[config.consumers]
    with sl.warp_specialize():
        with sl.partition(registers=producer_registers):
            # Two threads load, so that no order of Q and of the blocks is prescribed.
            with sl.elect(warp=1):
                blocks.load_queries()
            with sl.elect():
                blocks.load()
        with sl.partition(config.consumers, consumer_registers) as warpgroup:
            own = sl.ds(warpgroup * INSTRUCTION_M, INSTRUCTION_M)
            blocks.begin()
            for place in blocks.tiles:
                q = blocks.queries(place)[own, :]
                s = blocks.first_scores(place, q)
                # Where the tile is takes divisions, which run while the tensor cores multiply.
                tile = place.tile
                o, rows = blocks.attended(tile, q, own, s)
                blocks.finish(tile, o, rows, q, own)
            blocks.end()


class _Blocks:
    """The tiles of Q, and the blocks of K and V, in pipelines between loading threads and consumers.

    Args:
        arrays: by name, as `build` has them.
        config: the configuration.
    """

    def __init__(self, arrays: Mapping[str, Any], config: Config) -> None:
        self._arrays, self._config = arrays, config
        q, v = arrays["Q"], arrays["V"]
        batches, heads, queries, dim = q.shape
        self._multicast = "x" if config.cluster > 1 else None
        self._heads_of_one = heads // v.shape[1]
        self._packed = None
        if "longest" in arrays:
            starts = arrays["U"], arrays["W"]
            sequences = sl.unsigned(starts[0].shape[0] - 1)
            self._packed = Packed(*starts, sequences, arrays["longest"])
        self.tiles = Tiles(
            (batches, heads, queries),
            self._heads_of_one,
            v.shape[2],
            2 * dim * ITEM_BYTES,
            arrays.get("left"),
            arrays.get("right"),
            config,
            self._packed,
            arrays["O"].shape[0] if self._is_split else None,
        )
        stages, keys = config.stages, config.keys
        self._q = sl.alloc((config.query_stages, config.queries, dim), q.dtype)
        self._k = sl.alloc((stages, dim, keys), q.dtype)
        self._v = sl.alloc((stages, keys, dim), q.dtype)
        self._queries = sl.pipeline(config.query_stages, consumers=config.consumers)
        self._keys = sl.pipeline(stages, consumers=config.consumers)
        self._values = sl.pipeline(stages, consumers=config.consumers)

    @property
    def _stores_through_queries(self) -> bool:
        """Whether O is stored by TMA, from the memory of the tile's queries.

        The next ones must be loaded beside them, and TMA would store rows of the next sequence. Parts are
        of f32.
        """
        return self._config.query_stages > 1 and self._packed is None and not self._is_split

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
        for place in self.tiles:
            tile = place.tile
            row = tile.sequence.query + tile.query
            self._load_tile(self._query_index(place), tile.batch, tile.head, row)

    def _load_tile(
        self,
        index: sl.Index | int,
        batch: sl.Index | int,
        head: sl.Index | int,
        row: sl.Index | int,
    ) -> None:
        with self._queries.producer(index) as stage:
            window = self._arrays["Q"][batch, head, sl.ds(row, self._config.queries), :]
            sl.tma_load(window, self._q[stage], stage)

    def _query_index(self, place: Place) -> sl.Index | int:
        """Return the pipeline index of a tile's queries."""
        return place.number + 1 if self._stores_through_queries else place.number

    def load(self) -> None:
        """Load the blocks of every tile, from the last one on; one thread runs this. The keys of a block
        come before the values of the block before it, as the consumers take them."""
        for place in self.tiles:
            tile = place.tile
            self._load_keys(tile, 0)
            for block in sl.range(1, tile.blocks):
                self._load_keys(tile, block)
                self._load_values(tile, sl.unsigned(block - 1))
            self._load_values(tile, sl.unsigned(tile.blocks - 1))

    def _load_keys(self, tile: Tile, block: sl.Index | int) -> None:
        with self._keys.producer(tile.first + block) as stage:
            window = self._arrays["K"][*self._head(tile), :, self._rows(tile, block)]
            sl.tma_load(window, self._k[stage], stage, self._multicast)

    def _load_values(self, tile: Tile, block: sl.Index) -> None:
        with self._values.producer(tile.first + block) as stage:
            window = self._arrays["V"][*self._head(tile), self._rows(tile, block), :]
            sl.tma_load(window, self._v[stage], stage, self._multicast)

    def _head(self, tile: Tile) -> tuple[sl.Index | int, sl.Index]:
        """Return the place of the head whose keys and values a tile's queries see."""
        return tile.batch, divided(tile.head, self._heads_of_one)[0]

    def _rows(self, tile: Tile, block: sl.Index | int) -> Any:
        """Return the rows of the keys of a block."""
        key = sl.unsigned(tile.last - block) * self._config.keys
        return sl.ds(tile.sequence.key + key, self._config.keys)

    # The consumers.

    def begin(self) -> None:
        """Take the index of queries that nothing reads."""
        if self._stores_through_queries:
            self._queries.wait(0)

    def end(self) -> None:
        """Wait until the last rows of O have been read by TMA."""
        if self._stores_through_queries:
            with sl.elect():
                sl.tma_wait(0, read=True)

    def queries(self, place: Place) -> sl.Tile:
        """Wait for the queries of a tile, and return them."""
        return self._q[self._queries.wait(sl.make_warp_uniform(self._query_index(place)))]

    def first_scores(self, place: Place, q: sl.Tile) -> sl.Fragment:
        """Issue the product of a warpgroup's queries and the first block of keys, and return it."""
        self._keys.wait(place.first)
        k = self._k[self._stage(sl.make_warp_uniform(place.first))]
        with sl.ordered():
            s = sl.mma(q, k)
        if self._stores_through_queries:
            self._release_stored(place.number)
        return s

    def attended(
        self, tile: Tile, q: sl.Tile, own: Any, s: sl.Fragment
    ) -> tuple[sl.Fragment, Rows]:
        """Return the weighted sums of the values that a warpgroup's queries see, and the rows' sums.

        Args:
            tile: the tile.
            q: the warpgroup's queries.
            own: their rows of the tile.
            s: the scores of the first block, in flight.
        """
        scale = self._arrays["scale"]
        # O is multiplied, and values are waited for, when the product with the keys has been issued,
        # unless that keeps other warpgroups from their turns, or the tensor cores end before it.
        late = q.shape[1] > (_MOST_MASKED if "right" in self._arrays else _MOST_COLUMNS)
        early = self._config.consumers > 2 or late
        s = sl.wait(s)
        self._keys.release(tile.first)
        s = visible(s, self.tiles.sight(tile, tile.query + own.start, 0))
        if not late:
            self._values.wait(tile.first)
        p, rows, shrink = weights(s, scale, first_rows(s))
        p = self._of_a(p)
        o = sl.zeros((INSTRUCTION_M, q.shape[1]), sl.f32)
        for begin, end, is_masked in self._ranges(tile):
            for block in sl.range(begin, end):
                # The shuffle takes as long as the wait.
                at = sl.make_warp_uniform(tile.first + block)
                self._keys.wait(tile.first + block)
                if late:
                    self._values.wait(at - 1)
                k, v = self._k[self._stage(at)], self._v[self._stage(at - 1)]
                # While the products of one warpgroup run, others compute exponentials.
                with sl.ordered():
                    s = sl.mma(q, k)
                    o = sl.mma(p, v, o if early else multiplied(o, shrink))
                s = sl.wait(s, pending=1, in_flight=False)
                self._keys.release(at)
                if is_masked:
                    s = visible(s, self.tiles.sight(tile, tile.query + own.start, block))
                rows = next_rows(s, rows)
                # ptxas moves a wait for products before the arithmetic of its basic block, which begins
                # at this wait and ends with the loop. So exponentials hide all else in it.
                self._values.wait(at - 1 if late else at)
                o = sl.wait(o)
                self._values.release(at - 1)
                p, rows, shrink = weights(s, scale, rows)
                p = self._of_a(p)
                if early:
                    o = multiplied(o, shrink)
        if not self._stores_through_queries:
            self._queries.release(tile.number)
        last = tile.first + sl.unsigned(tile.blocks - 1)
        if late:
            self._values.wait(last)
        v = self._v[self._stage(last)]
        o = sl.wait(sl.mma(p, v, o if early else multiplied_last(o, shrink)))
        self._values.release(last)
        return o, rows

    def _stage(self, index: sl.Index) -> sl.Index:
        """Return the stage of a block whose arrival has been waited for."""
        return sl.unsigned(index) % self._config.stages

    def _ranges(self, tile: Tile) -> list[tuple[Any, Any, bool]]:
        """Return ranges of the blocks but the first one, with whether some query does not see all keys of
        such a block."""
        found: list[tuple[sl.Index | int, sl.Index, bool]] = []
        if isinstance(tile.masked, sl.Index):
            found.append((1, tile.masked, True))
        found.append((tile.masked, tile.unmasked, False))
        if "left" in self._arrays:
            found.append((tile.unmasked, tile.blocks, True))
        # ptxas then takes the warps in the loop for converged.
        uniform = sl.make_warp_uniform
        return [(uniform(begin), uniform(end), is_masked) for begin, end, is_masked in found]

    def _of_a(self, weights: sl.Fragment) -> sl.Fragment:
        """Return weights as the first operand of a product, in registers."""
        return sl.op(smem.convert, weights, self._k.dtype.type)

    def finish(self, tile: Tile, o: sl.Fragment, rows: Rows, q: sl.Tile, own: Any) -> None:
        """Store a warpgroup's rows of O, and of L.

        Args:
            tile, q, own: as for `attended`.
            o, rows: what it returned.
        """
        inverse, lse = results(rows, self._arrays["scale"])
        first = tile.query + own.start
        stored = sl.ds(tile.sequence.query + first, INSTRUCTION_M)
        left = tile.sequence.queries - first
        at = (tile.part,) if self._is_split else ()
        window = self._arrays["O"][*at, tile.batch, tile.head, stored, :]
        if "L" in self._arrays:
            sl.store(lse, self._arrays["L"][*at, tile.batch, tile.head, stored], rows=left)
        if self._stores_through_queries:
            self._store_through(q, o * inverse, window)
        else:
            # The next queries are loaded meanwhile.
            sl.store(o * inverse, window, rows=left)

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
