"""Successive halving: rounds of measurements, of which the slower half is left out repeatedly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from statistics import median

from ..call.tuning_cache import Result
from ..generator.config import Config

#: Measurements of each configuration before the slower half is left out.
ROUNDS = 3

#: Measures configurations, one after the other: the seconds of a GEMM with each, or an error message.
Measure = Callable[[Sequence[Config]], Iterable[float | str]]


class TuningError(Exception):
    """A search in which no configuration could be measured; the message has the reason for each."""

    def __init__(self, dropped: Mapping[Config, str]) -> None:
        reasons = [f"\n  {config}: {reason}" for config, reason in dropped.items()]
        super().__init__("no configuration could be measured" + "".join(reasons))


def halving(
    configs: Sequence[Config],
    measure: Measure,
    is_over: Callable[[], bool] = lambda: False,
    dropped: Mapping[Config, str] | None = None,
) -> Result:
    """Search for the fastest configuration by successive halving.

    Each round measures all remaining configurations and starts with the next one, because a chip at its
    power limit slows down as it warms up. After three rounds the slower half is left out. Medians are
    over all rounds; among equals, the first configuration wins.

    Args:
        configs: the configurations, ranked by the estimate.
        measure: measures some of them; it is called once a round.
        is_over: returns whether to stop before the next round; the first round always runs.
        dropped: the reasons why other configurations are not measured, for the result.

    Raises:
        TuningError: if no configuration could be measured.
    """
    left = list(dict.fromkeys(configs))
    times: dict[Config, list[float]] = {config: [] for config in left}
    dropped = dict(dropped or {})
    round_number = 0
    for size in sizes(len(left)):
        left = left[:size]
        for _ in range(ROUNDS):
            if not left or (round_number and is_over()):
                break
            first = round_number % len(left)
            order = left[first:] + left[:first]
            for config, time in zip(order, measure(order), strict=True):
                if isinstance(time, str):
                    dropped[config] = time
                else:
                    times[config].append(time)
            left = [config for config in left if config not in dropped]
            round_number += 1
        left.sort(key=lambda config: median(times[config]))
    if not left:
        raise TuningError(dropped)
    seconds = {c: median(each) for c, each in times.items() if each and c not in dropped}
    return Result(left[0], seconds, dropped)


def sizes(count: int) -> Iterator[int]:
    """Yield the number of configurations in each set of rounds, for example 16, 8, 4, 2."""
    yield count
    while (count := ceil(count / 2)) > 1:
        yield count
