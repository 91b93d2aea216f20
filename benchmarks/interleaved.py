"""Contenders timed in turn, with the same clock, while the chip is warm or while it is cool.

A chip at its power limit slows down as it warms up, so times of different runs do not compare. Here,
each round runs a batch of every contender, in another order each round, so that none always follows one
that left the chip cooler; a result is the median over the rounds. A mode says how long a batch is, how
long the contender runs before it is timed, and how long the chip rests after it.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol


class Contender(Protocol):
    """What is timed: units of one or several products, enqueued on the GPU.

    Attributes:
        name: what the results call it.
        products: how many products a unit is.
    """

    name: str
    products: int

    def batch(self, units: int) -> tuple[float, float]:
        """Runs a first unit and then so many more, and waits for them.

        Returns the seconds of those many by the GPU's clock, which starts when the first has ended
        (so that nobody's first launch counts), and the seconds of all by the host's.
        """
        ...


@dataclass(frozen=True)
class Mode:
    """How contenders take turns.

    Attributes:
        name: what the results call it.
        work: seconds that a batch takes.
        pause: the rest after a batch, in seconds for each second that it took.
        warm_up: seconds for which all run in turn before the first round.
        lead: seconds for which a contender runs before each of its batches: it then finds the chip as it
            leaves it itself.
    """

    name: str
    work: float
    pause: float
    warm_up: float
    lead: float = 0


MODES = {
    mode.name: mode
    for mode in (
        Mode("sustained", work=0.030, pause=0, warm_up=1.0, lead=0.030),
        Mode("burst", work=0.003, pause=30, warm_up=0),
    )
}

_SEARCH = Mode("search", work=0.010, pause=0, warm_up=0.2)
_SEARCH_ROUNDS = 3


@dataclass
class Times:
    """Seconds of one product, for each round, by the GPU's clock and by the host's."""

    gpu: list[float] = field(default_factory=list)
    host: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The median by the GPU's clock."""
        return median(self.gpu)

    @property
    def host_seconds(self) -> float:
        """The median by the host's clock."""
        return median(self.host)

    @property
    def spread(self) -> float:
        """The distance of the slowest round from the fastest, as a part of the median."""
        return (max(self.gpu) - min(self.gpu)) / self.seconds


def measure(
    contenders: Sequence[Contender],
    mode: Mode,
    rounds: int,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Times]:
    """Times every contender in so many rounds; ValueError without either, or if two have one name."""
    if not contenders or rounds < 1:
        raise ValueError(f"{len(contenders)} contenders in {rounds} rounds are nothing to measure")
    names = [contender.name for contender in contenders]
    if len(set(names)) < len(names):
        raise ValueError(f"contenders need names of their own, these are {', '.join(names)}")

    def run(contender: Contender, units: int) -> tuple[float, float]:
        times = contender.batch(units)
        if mode.pause:
            sleep(mode.pause * times[1])
        return times

    units = {}
    for contender in contenders:
        run(contender, 1)  # what only the first run does
        units[contender.name] = max(1, round(mode.work / run(contender, 1)[0]))
    spent = 0.0
    while spent < mode.warm_up:
        spent += sum(run(contender, units[contender.name])[1] for contender in contenders)

    times = {name: Times() for name in names}
    order = random.Random(rounds)
    for _ in range(rounds):
        for contender in order.sample(contenders, len(contenders)):
            many = units[contender.name]
            if mode.lead:
                contender.batch(max(1, round(many * mode.lead / mode.work)))
            gpu, host = run(contender, many)
            times[contender.name].gpu.append(gpu / (many * contender.products))
            times[contender.name].host.append(host / ((many + 1) * contender.products))
    return times


def finalists(contenders: Sequence[Contender], keep: int) -> list[Contender]:
    """The fastest few of many contenders, by short batches while the chip is warm."""
    if len(contenders) <= keep:
        return list(contenders)
    times = measure(contenders, _SEARCH, _SEARCH_ROUNDS)
    return sorted(contenders, key=lambda contender: times[contender.name].seconds)[:keep]
