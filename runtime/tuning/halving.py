"""Successive halving by paired ratios: rounds of measurements beside the default configuration's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb
from random import Random
from statistics import median
from typing import Generic, TypeVar

#: A configuration of a kernel; it can be hashed.
C = TypeVar("C")

#: Rounds before the slower half is left out, and rounds of the final comparison.
ROUNDS, FINAL_ROUNDS = 3, 15

#: Configurations that the final comparison has besides the default.
FINALISTS = 2

#: The probability that a configuration which is not faster than the default replaces it.
SIGNIFICANCE = 0.01

#: Measures configurations, one after the other: the seconds of a launch with each, or an error message.
Measure = Callable[[Sequence[C]], Iterable[float | str]]


@dataclass(frozen=True)
class SearchResult(Generic[C]):
    """The result of a search.

    Attributes:
        config: the fastest configuration.
        seconds: the time of a launch with each measured configuration: the default's median, times the
            median of the ratio to it.
        dropped: the reasons why other configurations were not measured.
    """

    config: C
    seconds: dict[C, float]
    dropped: dict[C, str]


class TuningError(Exception):
    """A search in which no configuration could be measured; the message has the reason for each."""

    def __init__(self, dropped: Mapping[C, str]) -> None:
        reasons = [f"\n  {config}: {reason}" for config, reason in dropped.items()]
        super().__init__("no configuration could be measured" + "".join(reasons))


def halving(
    configs: Sequence[C],
    measure: Measure[C],
    is_over: Callable[[], bool] = lambda: False,
    dropped: Mapping[C, str] | None = None,
) -> SearchResult[C]:
    """Search for a configuration that is faster than the default, by successive halving.

    A chip at its power limit slows down as it warms up, so times of different rounds cannot be compared.
    Each round measures all remaining configurations and the default, in an order of its own, and a
    configuration is judged by its ratio to the default of the same round: the median over the rounds.
    After each three rounds the slower half is left out. The last two meet the default in 15 rounds that
    took no part in their selection. The faster of them replaces the default only if a sign test finds it
    faster, at a level of 1 % for both together; else the default is the result.

    Args:
        configs: the configurations, the default first. If it cannot be measured, the next takes its
            place.
        measure: measures some of them; it is called once a round.
        is_over: returns whether to end the selection before its next round. The first round always runs,
            and so does the final comparison: without it, what was measured before is lost.
        dropped: the reasons why other configurations are not measured, for the result.

    Raises:
        TuningError: if no configuration could be measured.
    """
    rounds = _HalvingRounds(configs, measure, dropped or {})
    # The default is none of those that are halved.
    for size in sizes(len(rounds.left) - 1):
        rounds.keep_fastest(size)
        for _ in range(ROUNDS):
            if rounds.is_decided() or (rounds.measured and is_over()):
                break
            rounds.run()
    rounds.keep_fastest(FINALISTS)
    # The selection prefers configurations with lucky rounds, which therefore prove nothing.
    selected = len(rounds.measured)
    while len(rounds.measured) < selected + FINAL_ROUNDS:
        if rounds.is_decided():
            break
        rounds.run()
    if not rounds.left:
        raise TuningError(rounds.dropped)
    return SearchResult(rounds.winner(selected), rounds.seconds(), rounds.dropped)


class _HalvingRounds(Generic[C]):
    """The rounds of a search.

    Attributes:
        left: the configurations that take part, the default first.
        measured: the seconds of each configuration, by round.
        dropped: the reasons why others were not measured.
    """

    def __init__(self, configs: Sequence[C], measure: Measure[C], dropped: Mapping[C, str]) -> None:
        self.left = list(dict.fromkeys(configs))
        self.measured: list[dict[C, float]] = []
        self.dropped = dict(dropped)
        self._measure = measure
        self._order = Random(0)

    def is_decided(self) -> bool:
        """Return whether no configuration is left, or a single one that has a time."""
        return not self.left or (len(self.left) == 1 and bool(self.measured))

    def run(self) -> None:
        """Measure each remaining configuration once, in a random order."""
        order = self._order.sample(self.left, len(self.left))
        times: dict[C, float] = {}
        for config, time in zip(order, self._measure(order), strict=True):
            if isinstance(time, str):
                self.dropped[config] = time
            else:
                times[config] = time
        self.left = [config for config in self.left if config not in self.dropped]
        self.measured.append(times)

    def keep_fastest(self, count: int) -> None:
        """Keep the default and the `count` others with the least ratios to it."""
        default, others = self.left[:1], self.left[1:]
        if len(others) > count:
            self.left = default + sorted(others, key=lambda c: median(self._ratios(c)))[:count]

    def winner(self, start: int) -> C:
        """Return the fastest by the rounds from `start`, or the default if none is proven faster."""
        default, *others = self.left
        proven = [
            config
            for config in others
            # Each finalist is another chance of error (Bonferroni's correction).
            if is_below_one(self._ratios(config, start), SIGNIFICANCE / FINALISTS)
        ]
        return min(proven, key=lambda c: median(self._ratios(c, start)), default=default)

    def seconds(self) -> dict[C, float]:
        """Return the default's median time, and that time times the median ratio for each other."""
        default = self.left[0]
        default_time = median(times[default] for times in self.measured if default in times)
        measured = {c: None for times in self.measured for c in times if c not in self.dropped}
        return {config: default_time * median(self._ratios(config)) for config in measured}

    def _ratios(self, config: C, start: int = 0) -> list[float]:
        """Return the ratios to the default in the rounds that have both."""
        default = self.left[0]
        return [
            times[config] / times[default]
            for times in self.measured[start:]
            if config in times and default in times
        ]


def sizes(count: int) -> Iterator[int]:
    """Yield the number of configurations in each set of rounds, for example 16, 8, 4."""
    yield count
    while (count := ceil(count / 2)) > FINALISTS:
        yield count


def batches(count: int) -> int:
    """Return the measurements of a search of `count` configurations, of which one is the default."""
    if count == 1:
        return 1
    selection = sum(1 + size for size in sizes(count - 1)) * ROUNDS
    return selection + FINAL_ROUNDS * (1 + min(FINALISTS, count - 1))


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
