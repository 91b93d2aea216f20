"""The configurations to measure for a GEMM of given extents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from math import gcd

from .config import Config, ConfigError
from .problem import Problem, item_bytes

#: The maximal number of candidates.
MAX_CANDIDATES = 16

#: (M, N) of tiles, and their consumer warpgroups. The first has a single candidate: its accumulators
#: leave few registers for variants.
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

#: Bytes of a tile's line along K, the width of the widest swizzle; and of a line of an epilogue tile.
_LINE_BYTES, _STORED_BYTES = 128, 256

_NOT_VARIED = _TILES[:1]

#: Fewer stages than the first do not hide the memory's latency; more than the second hide no more of it.
_MIN_STAGES, _MAX_STAGES = 4, 8

#: Multiprocessors of an H200. On another GPU only the order of the candidates is less good.
_MULTIPROCESSORS = 132

#: Costs, in multiply-adds of the tensor cores: to load an element of the tile's edge for one k, and to
#: store an element of C. They only rank the candidates.
_LOAD, _STORE = 64, 256


def candidates(problem: Problem, m: int, n: int, k: int) -> list[Config]:
    """Return configurations that fit, ranked by an estimate: several for the two best tiles, one for
    others.

    Args:
        problem: element types and major-ness.
        m, n, k: the GEMM's extents.

    Example:
        >>> best = candidates(Problem(a="bf16", b="bf16", c="bf16"), m=4096, n=4096, k=4096)[0]
        >>> best.tile, best.cluster
        ((128, 256, 64), (1, 1))
    """
    tiles = sorted(_TILES, key=lambda tile: _time(tile[0], tile[1], m, n, k))
    varied = [tile for tile in tiles if tile not in _NOT_VARIED][:2]
    first, second = (list(_variants(problem, tile, m, n)) for tile in varied)
    rest = (list(_variants(problem, tile, m, n))[:1] for tile in tiles if tile not in varied)
    return list(islice(chain(first, second[:3], *rest), MAX_CANDIDATES))


def _time(tile_m: int, tile_n: int, m: int, n: int, k: int) -> int:
    """Estimate the time of a GEMM: the time of a tile, times the tiles of each multiprocessor."""
    tiles = -(-m // tile_m) * -(-n // tile_n)
    area, edge = tile_m * tile_n, tile_m + tile_n
    return -(-tiles // _MULTIPROCESSORS) * (k * (area + _LOAD * edge) + _STORE * area)


def _variants(problem: Problem, tile: tuple[int, int, int], m: int, n: int) -> Iterator[Config]:
    """Yield the configurations of a tile that fit and that differ for M rows and N columns."""
    tile_m, tile_n, consumers = tile
    rows, columns = -(-m // tile_m), -(-n // tile_n)
    width = gcd(tile_n, _STORED_BYTES // item_bytes(problem.c))
    depth = _LINE_BYTES // item_bytes(problem.a)
    base = Config((tile_m, tile_n, depth), consumers=consumers, store_columns=width)
    narrow = replace(base, store_columns=width // 2)
    if base.max_stages(problem) < min(_MIN_STAGES, narrow.max_stages(problem)):
        base = narrow
    clusters = ((2, 1), (1, 2))
    groups = (8, 32)
    for config in (
        base,
        *(replace(base, cluster=c) for c in clusters if rows >= c[0] and columns >= c[1]),
        # All groups that hold all rows are equal.
        *(replace(base, group=g) for g in groups if min(g, rows) != min(base.group, rows)),
        replace(base, store_columns=base.store_columns // 2, store_buffers=2 * base.store_buffers),
        replace(base, store_buffers=1),
    ):
        fitting = replace(config, stages=min(_MAX_STAGES, config.max_stages(problem)))
        try:
            fitting.check(problem)
        except ConfigError:
            continue
        yield fitting
