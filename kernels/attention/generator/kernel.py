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
from ...registers import REGISTERS
from .config import Config
from .problem import Problem
from .softmax import Rows, first_weights, next_weights, results, visible
from .tiles import Tile, Tiles


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
            for tile in blocks.tiles:
                q = blocks.queries(tile)[own, :]
                o, rows = blocks.attended(tile, q, own)
                blocks.finish(tile, o, rows, q, own)


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
        self.tiles = Tiles(
            (batches, heads, queries), v.shape[2], arrays.get("left"), arrays.get("right"), config
        )
        self._heads_of_one = heads // v.shape[1]
        stages, keys = config.stages, config.keys
        self._q = sl.alloc((1, config.queries, dim), q.dtype)
        self._k = sl.alloc((stages, dim, keys), q.dtype)
        self._v = sl.alloc((stages, keys, dim), q.dtype)
        self._queries = sl.pipeline(1, consumers=config.consumers)
        self._keys = sl.pipeline(stages, consumers=config.consumers)
        self._values = sl.pipeline(stages, consumers=config.consumers)

    # The producer.

    def load_queries(self) -> None:
        """Load the queries of every tile; one thread runs this."""
        for tile in self.tiles:
            rows = sl.ds(tile.query, self._config.queries)
            with self._queries.producer(tile.number) as stage:
                window = self._arrays["Q"][tile.batch, tile.head, rows, :]
                sl.tma_load(window, self._q[stage], stage)

    def load(self) -> None:
        """Load the blocks of every tile, from the last one on; one thread runs this. The keys of a block
        come before the values of the block before it, as the consumers take them."""
        for tile in self.tiles:
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
        with self._values.producer(tile.first + block) as stage:
            window = self._arrays["V"][*self._head(tile), self._rows(tile, block), :]
            sl.tma_load(window, self._v[stage], stage)

    def _head(self, tile: Tile) -> tuple[sl.Index, sl.Index]:
        """Return the place of the head whose keys and values a tile's queries see."""
        return tile.batch, tile.head // self._heads_of_one

    def _rows(self, tile: Tile, block: sl.Index | int) -> Any:
        """Return the keys of a block."""
        return sl.ds(sl.unsigned(tile.last - block) * self._config.keys, self._config.keys)

    # The consumers.

    def queries(self, tile: Tile) -> sl.Tile:
        """Wait for the queries of a tile, and return them."""
        return self._q[self._queries.wait(tile.number)]

    def attended(self, tile: Tile, q: sl.Tile, own: Any) -> tuple[sl.Fragment, Rows]:
        """Return the weighted sums of the values that a warpgroup's queries see, and the rows' sums.

        Args:
            tile: the tile.
            q: the warpgroup's queries.
            own: their rows of the tile.
        """
        scale = self._arrays["scale"]
        s = sl.wait(sl.mma(q, self._k[self._keys.wait(tile.first)]))
        self._keys.release(tile.first)
        s = visible(s, self.tiles.sight(tile, tile.query + own.start, 0))
        weights, rows = first_weights(s, scale)
        p, o = self._of_a(weights), sl.zeros((INSTRUCTION_M, q.shape[1]), sl.f32)
        for begin, end, is_masked in self._ranges(tile):
            for block in sl.range(begin, end):
                before = tile.first + sl.unsigned(block - 1)
                s = sl.mma(q, self._k[self._keys.wait(tile.first + block)])
                o = sl.mma(p, self._v[self._values.wait(before)], o)
                s = sl.wait(s, pending=1, in_flight=False)
                self._keys.release(tile.first + block)
                if is_masked:
                    s = visible(s, self.tiles.sight(tile, tile.query + own.start, block))
                weights, rows, shrink = next_weights(s, scale, rows)
                o = sl.wait(o)
                self._values.release(before)
                p, o = self._of_a(weights), o * shrink
        last = tile.first + sl.unsigned(tile.blocks - 1)
        o = sl.wait(sl.mma(p, self._v[self._values.wait(last)], o))
        self._values.release(last)
        return o, rows

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
            sl.tma_wait(0, read=True)
        sl.warpgroup_barrier()
        self._queries.release(tile.number)
