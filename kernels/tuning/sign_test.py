"""The sign test: whether ratios have a median below one, whatever their distribution."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb


def is_below_one(ratios: Sequence[float], significance: float) -> bool:
    """Return whether a sign test finds the median of independent ratios below one.

    If the median were one or more, at most half of the ratios would be below one in the mean, and the
    probability of so many or more is a tail of the binomial distribution. The test assumes neither a
    normal distribution nor equal variances (W. J. Conover, *Practical Nonparametric Statistics*, 3.4).
    A ratio of exactly one counts against.

    Args:
        ratios: one of each round.
        significance: the probability of a wrong yes that is accepted.

    Example:
        >>> is_below_one([0.97, 0.98, 1.01], 0.01), is_below_one([0.97] * 7, 0.01)
        (False, True)
    """
    count, below = len(ratios), sum(ratio < 1 for ratio in ratios)
    tail = sum(comb(count, wins) for wins in range(below, count + 1)) / 2**count
    return tail <= significance
