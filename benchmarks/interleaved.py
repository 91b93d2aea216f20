"""Interleaved timing of contenders, on a warm or a cool GPU.

A GPU at its power limit slows down as it warms up, so times of different runs cannot be compared.
Each round runs a batch of every contender, in a different order each round; a result is the median
over the rounds. A mode is the length of a batch, the time that a contender runs before it is timed,
and the pause after it.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol


class Contender(Protocol):
    """A timed function: units of one or several GEMMs, enqueued on the GPU.

    Attributes:
        name: the name in the results.
        gemms: GEMMs of a unit.
    """

    name: str
    gemms: int

    def batch(self, units: int) -> tuple[float, float]:
        """Run a first unit and then `units` more, and wait for them.

        Returns the seconds of the latter by the GPU's clock, which starts when the first unit has ended
        (so that the first launch does not count), and the seconds of all by the host's clock.
        """
        ...


@dataclass(frozen=True)
class Mode:
    """A schedule of alternating contenders.

    Attributes:
        name: the name in the results.
        work: seconds of a batch.
        pause: the pause after a batch, in seconds for each second of it.
        warm_up: seconds for which all contenders alternate before the first round.
        lead: seconds for which a contender runs before each of its batches, so that the GPU has its own
            temperature.
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
    """Seconds of one GEMM for each round, by the GPU's and the host's clock."""

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
        """The difference between the slowest and the fastest round, relative to the median."""
        return (max(self.gpu) - min(self.gpu)) / self.seconds


def measure(
    contenders: Sequence[Contender],
    mode: Mode,
    rounds: int,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Times]:
    """Time every contender; ValueError without contenders or rounds, or if two have one name."""
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
        run(contender, 1)  # work of the first run
        units[contender.name] = max(1, round(mode.work / run(contender, 1)[0]))
    seconds = 0.0
    while seconds < mode.warm_up:
        seconds += sum(run(contender, units[contender.name])[1] for contender in contenders)

    times = {name: Times() for name in names}
    order = random.Random(rounds)
    for _ in range(rounds):
        for contender in order.sample(contenders, len(contenders)):
            batch_units = units[contender.name]
            if mode.lead:
                contender.batch(max(1, round(batch_units * mode.lead / mode.work)))
            gpu, host = run(contender, batch_units)
            times[contender.name].gpu.append(gpu / (batch_units * contender.gemms))
            times[contender.name].host.append(host / ((batch_units + 1) * contender.gemms))
    return times


def finalists(contenders: Sequence[Contender], keep: int) -> list[Contender]:
    """The fastest few of many contenders, by short batches on a warm GPU."""
    if len(contenders) <= keep:
        return list(contenders)
    times = measure(contenders, _SEARCH, _SEARCH_ROUNDS)
    return sorted(contenders, key=lambda contender: times[contender.name].seconds)[:keep]
