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
from .config import REGISTERS, Config
from .problem import Problem
from .softmax import Rows, first_weights, multiplied, next_weights, results, visible
from .tiles import Place, Tile, Tiles


def build(problem: Problem, config: Config) -> Any:
    """Build a module with the kernel `attention(Q, K, V, O, L, scale, left, right)`.

    Q and O are (B, H, M, d), K (B, G, d, N), V (B, G, N, d), with H a multiple of G; d is contiguous.
    L (B, H, P) has the logarithms of the sums of exponentials; P is M, rounded up to the queries of a
    tile. L, left and right are missing where the problem has none. `scale` includes log2(e).

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
    for name, is_there, shape, type_ in (
        ("L", problem.lse, "(B,H,P):(?,?,1)", "f32"),
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
    options = Options(1 + config.consumers, (1, 1), min_blocks=1)
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
        self._heads_of_one = heads // v.shape[1]
        self.tiles = Tiles(
            (batches, heads, queries),
            v.shape[2],
            arrays.get("left"),
            arrays.get("right"),
            config,
        )
        stages, keys = config.stages, config.keys
        self._q = sl.alloc((config.query_stages, config.queries, dim), q.dtype)
        self._k = sl.alloc((stages, dim, keys), q.dtype)
        self._v = sl.alloc((stages, keys, dim), q.dtype)
        self._queries = sl.pipeline(config.query_stages, consumers=config.consumers)
        self._keys = sl.pipeline(stages, consumers=config.consumers)
        self._values = sl.pipeline(stages, consumers=config.consumers)

    # The producer.

    def load_queries(self) -> None:
        """Load the queries of every tile; one thread runs this."""
        if self._config.query_stages > 1:
            # As with the values, nothing reads the first index.
            self._load_tile(0, 0, 0, 0)
        for place in self.tiles:
            tile = place.tile
            self._load_tile(self._query_index(place), tile.batch, tile.head, tile.query)

    def _load_tile(
        self,
        index: sl.Index | int,
        batch: sl.Index | int,
        head: sl.Index | int,
        query: sl.Index | int,
    ) -> None:
        with self._queries.producer(index) as stage:
            window = self._arrays["Q"][batch, head, sl.ds(query, self._config.queries), :]
            sl.tma_load(window, self._q[stage], stage)

    def _query_index(self, place: Place) -> sl.Index | int:
        """Return the pipeline index of a tile's queries."""
        return place.number + 1 if self._config.query_stages > 1 else place.number

    def load(self) -> None:
        """Load the blocks of every tile, from the last one on; one thread runs this. The keys of a block
        come before the values of the block before it, as the consumers take them."""
        # Consumers release an index of the values when they need the next one, so that each tile begins
        # with the release of an index. Nothing reads the values of index 0, the first one of all.
        self._load_any_values()
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
            sl.tma_load(window, self._k[stage], stage)

    def _load_values(self, tile: Tile, block: sl.Index) -> None:
        with self._values.producer(tile.first + block + 1) as stage:
            window = self._arrays["V"][*self._head(tile), self._rows(tile, block), :]
            sl.tma_load(window, self._v[stage], stage)

    def _load_any_values(self) -> None:
        with self._values.producer(0) as stage:
            window = self._arrays["V"][0, 0, sl.ds(0, self._config.keys), :]
            sl.tma_load(window, self._v[stage], stage)

    def _head(self, tile: Tile) -> tuple[sl.Index, sl.Index]:
        """Return the place of the head whose keys and values a tile's queries see."""
        return tile.batch, tile.head // self._heads_of_one

    def _rows(self, tile: Tile, block: sl.Index | int) -> Any:
        """Return the keys of a block."""
        return sl.ds(sl.unsigned(tile.last - block) * self._config.keys, self._config.keys)

    # The consumers.

    def begin(self) -> None:
        """Take the indices that nothing reads."""
        self._values.wait(0)
        if self._config.query_stages > 1:
            self._queries.wait(0)

    def end(self) -> None:
        """Wait until the last rows of O have been stored."""
        with sl.elect():
            sl.tma_wait(0, read=True)

    def queries(self, place: Place) -> sl.Tile:
        """Wait for the queries of a tile, and return them."""
        return self._q[self._queries.wait(sl.make_warp_uniform(self._query_index(place)))]

    def first_scores(self, place: Place, q: sl.Tile) -> sl.Fragment:
        """Issue the product of a warpgroup's queries and the first block of keys, and return it."""
        at = sl.make_warp_uniform(place.first)
        k = self._k[self._keys.wait(at)]
        with sl.ordered():
            s = sl.mma(q, k)
        if self._config.query_stages > 1:
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
        s = sl.wait(s)
        self._keys.release(tile.first)
        s = visible(s, self.tiles.sight(tile, tile.query + own.start, 0))
        weights, rows = first_weights(s, scale)
        shrink = sl.full((INSTRUCTION_M,), 1.0, sl.f32, axis=1)
        o = sl.zeros((INSTRUCTION_M, q.shape[1]), sl.f32, in_flight=True)
        for begin, end, is_masked in self._ranges(tile):
            for block in sl.range(begin, end):
                # The wait is at the loop's begin, because ptxas moves exponentials behind one at its end.
                o = multiplied(self._finished(tile, block, o), shrink)
                p = self._of_a(weights)
                at = sl.make_warp_uniform(tile.first + block)
                k, v = self._k[self._keys.wait(at)], self._v[self._values.wait(at)]
                # While the products of one warpgroup run, others compute exponentials.
                with sl.ordered():
                    s, o = sl.mma(q, k), sl.mma(p, v, o)
                s = sl.wait(s, pending=1, in_flight=False)
                self._keys.release(tile.first + block)
                if is_masked:
                    s = visible(s, self.tiles.sight(tile, tile.query + own.start, block))
                weights, rows, shrink = next_weights(s, scale, rows)
        o = self._finished(tile, tile.blocks, o) * shrink
        v = self._v[self._values.wait(tile.first + tile.blocks)]
        return sl.wait(sl.mma(self._of_a(weights), v, o)), rows

    def _finished(self, tile: Tile, block: sl.Index, o: sl.Fragment) -> sl.Fragment:
        """Wait for the product with the values two blocks before, in this tile or the one before, and
        release them."""
        o = sl.wait(o)
        self._values.release(tile.first + sl.unsigned(block - 1))
        return o

    def _ranges(self, tile: Tile) -> list[tuple[Any, Any, bool]]:
        """Return ranges of the blocks but the first one, with whether some query does not see all keys of
        such a block."""
        found: list[tuple[Any, Any, bool]] = []
        if "right" in self._arrays:
            found.append((1, tile.masked, True))
        found.append((tile.masked, tile.unmasked, False))
        if "left" in self._arrays:
            found.append((tile.unmasked, tile.blocks, True))
        return found

    def _of_a(self, weights: sl.Fragment) -> sl.Fragment:
        """Return weights as the first operand of a product, in registers."""
        return sl.op(smem.convert, weights, self._k.dtype.type)

    def finish(self, tile: Tile, o: sl.Fragment, rows: Rows, q: sl.Tile, own: Any) -> None:
        """Store a warpgroup's rows of O, through the memory of its queries, and of L.

        Args:
            tile, q, own: as for `attended`.
            o, rows: what it returned.
        """
        inverse, lse = results(rows, self._arrays["scale"])
        stored = sl.ds(tile.query + own.start, INSTRUCTION_M)
        # Every warp has waited for the products that read Q.
        sl.warpgroup_barrier()
        sl.store(o * inverse, q)
        if "L" in self._arrays:
            sl.store(lse, self._arrays["L"][tile.batch, tile.head, stored])
        sl.fence()
        sl.warpgroup_barrier()
        with sl.elect():
            sl.tma_store(q, self._arrays["O"][tile.batch, tile.head, stored, :])
            sl.tma_commit()
        if self._config.query_stages == 1:
            self._release_stored(tile.number)

    def _release_stored(self, index: sl.Index | int) -> None:
        """Release queries when the rows of O that took their memory have been read."""
        with sl.elect():
            sl.tma_wait(0, read=True)
        self._queries.release(index)
