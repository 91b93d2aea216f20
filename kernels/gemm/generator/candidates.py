"""The configurations that are worth a measurement, for a product of given extents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from math import gcd

from .config import Config, ConfigError
from .problem import Problem, item_bytes

#: How many are tried at most.
MOST = 16

#: (M, N) of tiles, and the warpgroups that multiply them. The first is tried once and not varied:
#: the accumulators leave few registers to spare.
_TILES = (
    (192, 192, 3),
    (128, 256, 2),
    (256, 128, 2),
    (128, 192, 2),
    (128, 128, 2),
    (64, 256, 1),
    (64, 128, 1),
    (128, 64, 2),
    (64, 64, 1),
    (128, 32, 2),
    (64, 32, 1),
    (64, 16, 1),
)

#: Bytes of a line of a tile along K, the widest swizzle's; and of a line that is stored at a time.
_LINE_BYTES, _STORED_BYTES = 128, 256

_ONCE = _TILES[:1]

#: Fewer stages than the first hide too little of the memory's latency, more than the second no more.
_FEW_STAGES, _MOST_STAGES = 4, 8

#: Multiprocessors of an H200. On another GPU the order is a little worse, and nothing else.
_MULTIPROCESSORS = 132

#: Time, in multiplications of an element of C by the tensor cores: for each step of K what an element of
#: the tile's edge costs to load, and once what an element costs to store. They only rank.
_LOAD, _STORE = 64, 256


def candidates(problem: Problem, m: int, n: int, k: int) -> list[Config]:
    """Configurations that fit, the likeliest first: of the two likeliest tiles several, of others one.

    Args:
        problem: element types and majors.
        m, n, k: the product's extents.
    """
    tiles = sorted(_TILES, key=lambda tile: _time(tile[0], tile[1], m, n, k))
    varied = [tile for tile in tiles if tile not in _ONCE][:2]
    first, second = (list(_variants(problem, tile, m, n)) for tile in varied)
    rest = (list(_variants(problem, tile, m, n))[:1] for tile in tiles if tile not in varied)
    return list(islice(chain(first, second[:3], *rest), MOST))


def _time(tile_m: int, tile_n: int, m: int, n: int, k: int) -> int:
    """About how long the product takes with a tile: the time of a tile, as often as each multiprocessor
    has one."""
    tiles = -(-m // tile_m) * -(-n // tile_n)
    inside, edge = tile_m * tile_n, tile_m + tile_n
    return -(-tiles // _MULTIPROCESSORS) * (k * (inside + _LOAD * edge) + _STORE * inside)


def _variants(problem: Problem, tile: tuple[int, int, int], m: int, n: int) -> Iterator[Config]:
    """The configurations of a tile that fit and that differ for a product of so many rows and columns."""
    tile_m, tile_n, consumers = tile
    rows, columns = -(-m // tile_m), -(-n // tile_n)
    width = gcd(tile_n, _STORED_BYTES // item_bytes(problem.c))
    depth = _LINE_BYTES // item_bytes(problem.a)
    base = Config((tile_m, tile_n, depth), consumers=consumers, store_columns=width)
    narrow = replace(base, store_columns=width // 2)
    if base.max_stages(problem) < min(_FEW_STAGES, narrow.max_stages(problem)):
        base = narrow
    clusters = ((2, 1), (1, 2))
    groups = (8, 32)
    for config in (
        base,
        *(replace(base, cluster=c) for c in clusters if rows >= c[0] and columns >= c[1]),
        # Groups of all rows are the same, however many more they would hold.
        *(replace(base, group=g) for g in groups if min(g, rows) != min(base.group, rows)),
        replace(base, store_columns=base.store_columns // 2, store_buffers=2 * base.store_buffers),
        replace(base, store_buffers=1),
    ):
        fitting = replace(config, stages=min(_MOST_STAGES, config.max_stages(problem)))
        try:
            fitting.check(problem)
        except ConfigError:
            continue
        yield fitting
