"""Measure configurations on the GPUs of an executor's workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from itertools import count

from ....runtime.devices import gpu_name
from ....runtime.tuning.compiling import LOCK
from ....runtime.tuning.timing import Stopwatch
from ..call.matmul import prepare
from ..generator.config import Config
from ..generator.problem import Problem
from .random_operands import random_operands

#: How often a round is given to an executor whose workers end.
_ATTEMPTS = 3


def measure_on_worker(
    problem: Problem, m: int, n: int, k: int, configs: Sequence[Config], number: int
) -> list[float | str]:
    """Return the seconds of a GEMM of random matrices on this process's GPU with each configuration, or
    error messages.

    The number of the task makes it differ from others: Dask takes functions for pure, and returns the
    result of an equal task.
    """
    try:
        with LOCK:
            gpu_name()  # makes the GPU current in this thread
            return list(_stopwatch(problem, m, n, k)(configs))
    except Exception as error:  # not every exception can be pickled
        return [f"{type(error).__name__}: {error}"] * len(configs)


@lru_cache(maxsize=1)
def _stopwatch(problem: Problem, m: int, n: int, k: int) -> Stopwatch[Config]:
    arrays = random_operands(problem, m, n, k)
    return Stopwatch(lambda config: prepare(*arrays, config))


class RemoteStopwatch:
    """Measures configurations on the GPUs of an executor's workers; a `Measure` of `halving`.

    A round is one task, because times of different GPUs cannot be compared. If its worker ends, it is
    given to the executor again.
    """

    def __init__(self, executor: Executor, problem: Problem, m: int, n: int, k: int) -> None:
        self._executor = executor
        self._gemm = problem, m, n, k
        self._tasks = count()

    def __call__(self, configs: Sequence[Config]) -> Iterator[float | str]:
        reason = ""
        for _ in range(_ATTEMPTS):
            try:
                future = self._executor.submit(
                    measure_on_worker, *self._gemm, list(configs), next(self._tasks)
                )
                yield from future.result()
                return
            except Exception as error:  # the worker has ended
                reason = f"{type(error).__name__}: {error}"
        yield from [reason] * len(configs)
