"""The search for the fastest of some configurations: rounds in turn, of which ever fewer take part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from statistics import median

from ..call.tuning_cache import Result
from ..generator.config import Config

#: Measurements of each configuration before the slower half is left out.
ROUNDS = 3

#: Measures configurations, one after the other: seconds of a product with each, or why there is none.
Measure = Callable[[Sequence[Config]], Iterable[float | str]]


class TuningError(Exception):
    """A search in which no configuration could be measured; the message has every reason."""

    def __init__(self, dropped: Mapping[Config, str]) -> None:
        reasons = [f"\n  {config}: {reason}" for config, reason in dropped.items()]
        super().__init__("no configuration could be measured" + "".join(reasons))


def halving(
    configs: Sequence[Config],
    measure: Measure,
    is_over: Callable[[], bool] = lambda: False,
    dropped: Mapping[Config, str] | None = None,
) -> Result:
    """Searches by successive halving.

    Each round measures all that are left, beginning one further on each time, because a chip at its
    power limit slows down as it warms up. After three rounds the slower half is left out. Medians are
    over all rounds; of equals, the one that stands first wins.

    Args:
        configs: the configurations, the likeliest first.
        measure: measures some of them; it is called once a round.
        is_over: says that no further round shall be begun; there is one round at least.
        dropped: why others do not take part, for the result.

    Raises:
        TuningError: if none could be measured.
    """
    left = list(dict.fromkeys(configs))
    times: dict[Config, list[float]] = {config: [] for config in left}
    dropped = dict(dropped or {})
    turn = 0
    for size in sizes(len(left)):
        left = left[:size]
        for _ in range(ROUNDS):
            if not left or (turn and is_over()):
                break
            first = turn % len(left)
            order = left[first:] + left[:first]
            for config, time in zip(order, measure(order), strict=True):
                if isinstance(time, str):
                    dropped[config] = time
                else:
                    times[config].append(time)
            left = [config for config in left if config not in dropped]
            turn += 1
        left.sort(key=lambda config: median(times[config]))
    if not left:
        raise TuningError(dropped)
    seconds = {c: median(each) for c, each in times.items() if each and c not in dropped}
    return Result(left[0], seconds, dropped)


def sizes(count: int) -> Iterator[int]:
    """How many of so many configurations take part in each three rounds: 16, 8, 4, 2."""
    yield count
    while (count := ceil(count / 2)) > 1:
        yield count
