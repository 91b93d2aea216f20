"""The configurations to choose from for a GEMM of given extents, ranked by their predicted times."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, gcd, prod
from typing import NamedTuple

from ....layout.wgmma import INSTRUCTION_M
from .config import Config, ConfigError
from .problem import Problem, item_bytes
from .time_model import H200, Prediction, TimeModel
from .work import work_of

#: The number of candidates that `tune` measures.
MAX_CANDIDATES = 16

#: Rows of tiles, with their consumer warpgroups.
_ROWS = ((64, 1), (128, 2), (192, 3), (256, 2))

#: Columns of tiles, besides those that divide few columns equally.
_COLUMNS = (256, 192, 128, 96, 64, 48, 32, 16, 8)

#: Tiles of more than twice as many columns have a multiple of it: a store of few columns costs as much as
#: one of many.
_WIDE = 32

#: Few columns are divided into at most this many equal tiles.
_DIVISIONS = 4

#: Columns of an accumulator have their own registers in eights.
_COLUMN_MULTIPLE = 8

#: Bytes of a tile's line along K, the width of the widest swizzle; and of a line of an epilogue tile.
_LINE_BYTES, _STORED_BYTES = 128, 256

#: Fewer stages than the first do not hide the memory's latency; more than the second hide no more of it.
_MIN_STAGES, _MAX_STAGES = 4, 8

#: Bytes of a sector of L2. Loads of rows that begin between sectors take about twice as long.
_SECTOR_BYTES = 32

#: CTAs do not share loads of so few K blocks: a launch with clusters takes longer.
_FEW_BLOCKS = 4

#: Parts of K, at most: each costs its sum.
_MAX_SPLIT = 32

#: K blocks of a part, at least.
_MIN_PART = 2

#: CTAs of a cluster that add their parts of a tile, and the least part of the GPU that they fill.
_ADDING, _FILLED = (2, 4, 8, 16), 1 / 5

#: Variants of the best tiles that are measured, by rank of the tile; one of the others.
_VARIANTS = (7, 3, 2)


class Candidate(NamedTuple):
    """A configuration and its predicted time."""

    config: Config
    prediction: Prediction

    def __str__(self) -> str:
        config = self.config
        tile = "x".join(map(str, config.tile))
        split = f", K in {config.split_k}" if config.split_k > 1 else ""
        if config.cluster_k > 1:
            split = f", K in {config.cluster_k} of a cluster"
        exchanged = ", exchanged" if config.exchanged else ""
        return f"{tile} in {config.stages} stages{split}{exchanged}: {self.prediction}"


def choose(
    problem: Problem,
    m: int,
    n: int,
    k: int,
    *,
    batch: Sequence[int] = (),
    model: TimeModel = H200,
    explain: bool = False,
) -> Config:
    """Return the configuration whose predicted time is the least.

    Args:
        problem: element types and major-ness.
        m, n, k: the GEMM's extents.
        batch: the leading dimensions of the result.
        model: the GPU's constants.
        explain: whether to print the ten best to stderr, with their predicted times.

    Example:
        >>> choose(Problem(), 4096, 4096, 4096).tile
        (256, 128, 64)
        >>> choose(Problem(), 16, 4096, 4096).exchanged
        True
    """
    ranked = rank(problem, m, n, k, batch=batch, model=model)
    if explain:
        print(f"{'x'.join(map(str, (*batch, m, n, k)))} of {problem}", file=sys.stderr)
        for candidate in ranked[:10]:
            print(f"  {candidate}", file=sys.stderr)
    return ranked[0].config


def rank(
    problem: Problem,
    m: int,
    n: int,
    k: int,
    *,
    batch: Sequence[int] = (),
    model: TimeModel = H200,
) -> list[Candidate]:
    """Return all configurations that fit and are plausible, the least predicted time first.

    Args:
        problem, m, n, k, batch, model: as for `choose`.

    Example:
        >>> best = rank(Problem(), 128, 128, 16384)[0]
        >>> best.config.split_k * best.config.cluster_k > 1
        True
    """
    configs = list(dict.fromkeys(_plausible(problem, m, n, k, prod(batch), model)))
    works = [work_of(problem, m, n, k, config, model.multiprocessors, batch) for config in configs]
    ranked = list(map(Candidate, configs, model.predict(works)))
    return sorted(ranked, key=lambda candidate: candidate.prediction.seconds)


def candidates(
    problem: Problem,
    m: int,
    n: int,
    k: int,
    *,
    batch: Sequence[int] = (),
    model: TimeModel = H200,
) -> list[Config]:
    """Return the configurations to measure: variants of the best tiles first.

    Variants differ in what the model of time does not know: the order of tiles, clusters that share
    loads, and buffers of the epilogue.

    Args:
        problem, m, n, k, batch, model: as for `choose`.

    Example:
        >>> best = candidates(Problem(a="bf16", b="bf16", c="bf16"), m=4096, n=4096, k=4096)[0]
        >>> best.tile, best.cluster
        ((256, 128, 64), (1, 1))
    """
    ranked = rank(problem, m, n, k, batch=batch, model=model)
    configs: list[Config] = []
    for place, (config, _) in enumerate(ranked):
        count = _VARIANTS[place] if place < len(_VARIANTS) else 1
        variants = dict.fromkeys(_variants(problem, config, m, n))
        configs += [variant for variant in variants if variant not in configs][:count]
        if len(configs) >= MAX_CANDIDATES:
            break
    return configs[:MAX_CANDIDATES]


def _plausible(
    problem: Problem, m: int, n: int, k: int, matrices: int, model: TimeModel
) -> Iterator[Config]:
    """Yield a configuration for each tile, with and without exchanged operands and split K."""
    depth = _LINE_BYTES // item_bytes(problem.a)
    k_blocks = ceil(k / depth)
    shares_loads = k_blocks > _FEW_BLOCKS or not _are_aligned(problem, m, n, k)
    # Only a C that is not exchanged has its matrices of the epilogue loaded by TMA.
    has_matrices = problem.fusion is not None and bool(problem.fusion.matrices)
    for exchanged in (False, True):
        if exchanged and has_matrices and m >= INSTRUCTION_M:
            continue
        rows, columns = (n, m) if exchanged else (m, n)
        for tile_m, consumers in _ROWS:
            if tile_m >= 2 * rows and consumers > 1:
                continue
            for tile_n in _tile_columns(columns):
                base = Config((tile_m, tile_n, depth), consumers=consumers, exchanged=exchanged)
                tiles = matrices * ceil(rows / tile_m) * ceil(columns / tile_n)
                splits = _splits(tiles, k_blocks, model.multiprocessors)
                configs = [base, *(replace(base, split_k=split) for split in splits)]
                for ctas, clusters in zip(_ADDING, model.clusters, strict=True):
                    fills = _FILLED * model.multiprocessors <= ctas * tiles
                    if fills and tiles <= clusters and k_blocks >= _MIN_PART * ctas:
                        configs.append(replace(base, cluster_k=ctas))
                if shares_loads:
                    configs += _clusters(base, rows, columns)
                for config in configs:
                    fitting = _fitting(problem, config)
                    if fitting is not None:
                        yield fitting


def _are_aligned(problem: Problem, m: int, n: int, k: int) -> bool:
    """Whether rows of A and B begin at multiples of L2's sectors."""
    item = item_bytes(problem.a)
    of_a, of_b = k if problem.a_major == "k" else m, k if problem.b_major == "k" else n
    return of_a * item % _SECTOR_BYTES == 0 and of_b * item % _SECTOR_BYTES == 0


def _tile_columns(columns: int) -> list[int]:
    """Return the columns of tiles for a C of so many columns, widest first."""
    least = _even(columns)
    equal = (_even(ceil(columns / parts)) for parts in range(1, _DIVISIONS + 1))
    widths = {*(width for width in _COLUMNS if width < least), *equal}
    return sorted((width for width in widths if width <= _COLUMNS[0]), reverse=True)


def _even(columns: int) -> int:
    """Return columns of a tile that have them, and whose epilogue tiles are not narrow."""
    multiple = _COLUMN_MULTIPLE
    while columns > 2 * multiple and multiple < _WIDE:
        multiple *= 2
    return ceil(columns / multiple) * multiple


def _splits(tiles: int, k_blocks: int, multiprocessors: int) -> list[int]:
    """Return the numbers of parts of K to consider, as many for each tile: those that fill the GPU, and
    halves of those.

    A last wave that stream-K shares out was the fastest for 9 of 314 shapes of the sweeps on an H200, for
    4 by more than 1 %.
    """
    splits: list[int] = []
    most, fill = min(_MAX_SPLIT, k_blocks // _MIN_PART), multiprocessors // tiles
    while fill > 1:
        split = min(fill, most)
        if split > 1 and split not in splits:
            splits.append(split)
        fill //= 2
    return splits


def _clusters(base: Config, rows: int, columns: int) -> Iterator[Config]:
    """Yield a configuration with clusters of two CTAs that share loads."""
    for along in ((2, 1), (1, 2)):
        if rows > base.tile[0] * (along[0] - 1) and columns > base.tile[1] * (along[1] - 1):
            yield replace(base, cluster=along)


def _fitting(problem: Problem, config: Config) -> Config | None:
    """Return a configuration with the epilogue tiles and stages that fit; None if none do."""
    item = max(item_bytes(result) for result in problem.results)
    width = gcd(config.finished_columns, _STORED_BYTES // item)
    buffers = config.consumers if config.cluster_k > 1 else config.store_buffers
    config = replace(config, store_columns=width, store_buffers=buffers)
    # Matrices that the epilogue reads take shared memory, too.
    for _ in range(2 if config.sources(problem) else 1):
        narrow = replace(config, store_columns=config.store_columns // 2)
        fits_more = config.max_stages(problem) < min(_MIN_STAGES, narrow.max_stages(problem))
        if config.store_columns > _COLUMN_MULTIPLE and fits_more:
            config = narrow
    config = replace(config, stages=min(_MAX_STAGES, config.max_stages(problem)))
    try:
        config.check(problem)
    except ConfigError:
        return None
    return config


def _variants(problem: Problem, base: Config, m: int, n: int) -> Iterator[Config]:
    """Yield a configuration, and others of its tile that fit and differ for M rows and N columns."""
    m, n = (n, m) if base.exchanged else (m, n)
    rows, columns = ceil(m / base.tile[0]), ceil(n / base.tile[1])
    clusters = ((2, 1), (1, 2))
    groups = (8, 32)
    yield base
    for config in (
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
