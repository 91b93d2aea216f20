"""The configurations that `tune` measures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ....layout.wgmma import INSTRUCTION_M
from ...errors import ConfigError
from .config import MOST_KEYS, Config, key_multiple
from .problem import Problem

#: Widths of blocks that are measured for each number of consumers: the widest ones that fit.
_WIDTHS = 5

#: The steps of widths where there are few queries.
_FEW_STEP = 32

#: Blocks have no fewer keys than this.
_FEWEST_KEYS = 64


def candidates(problem: Problem, queries: int) -> list[Config]:
    """Return the configurations that are plausible for a problem, and fit.

    Args:
        problem: the problem.
        queries: the length of the sequences of queries, times the heads of a tile.

    Example:
        >>> [config.keys for config in candidates(Problem(dim=256, right=True), 4096)][:2]
        [80, 64]
    """
    few = queries <= INSTRUCTION_M
    configs: list[Config] = []
    for consumers in (1,) if few else (2, 3):
        widths = 0
        # Where memory is waited for, the width matters less than the stages.
        step = _FEW_STEP if few else key_multiple(problem)
        for keys in range(MOST_KEYS // step * step, _FEWEST_KEYS - 1, -step):
            fitting = list(_of_width(problem, consumers, keys, few))
            configs += fitting
            widths += bool(fitting)
            if widths == _WIDTHS:
                break
    return configs


def _of_width(problem: Problem, consumers: int, keys: int, few: bool) -> Iterator[Config]:
    """Yield configurations with blocks of a width, that fit."""
    # One warpgroup waits for memory, so it has more stages.
    stages = range(2, 6) if few else range(2, 4)
    clusters = (1, 2) if problem.has_equal_tiles and not few else (1,)
    for fields in product(stages, (2, 1), clusters):
        config = Config(consumers, keys, *fields)
        try:
            config.check(problem)
        except ConfigError:
            continue
        yield config
