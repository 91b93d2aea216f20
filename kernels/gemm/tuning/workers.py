"""The tasks of executors: compile kernels, and measure configurations on the workers' GPUs."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from threading import Lock
from types import ModuleType

from ....runtime import cached_compile
from ..call.device import gpu_name
from ..call.matmul import prepare
from ..generator.config import Config
from ..generator.problem import Problem
from .random_operands import random_operands
from .timing import Stopwatch

#: The maximal number of processes that compile at the same time.
_MAX_PROCESSES = 8

#: How often a round is given to an executor whose workers end.
_ATTEMPTS = 3

#: One thread of a process at a time compiles (a limit of the bindings) or measures.
_LOCK = Lock()


def compile_to_cache(text: str, arch: str = "sm_90a") -> str | None:
    """Compile a kernel into the cache; return an error message, or None."""
    try:
        with _LOCK:
            cached_compile(text, arch)
    except Exception as error:  # not every exception can be pickled
        return f"{type(error).__name__}: {error}"
    return None


def measure_on_worker(
    problem: Problem, m: int, n: int, k: int, configs: Sequence[Config], number: int
) -> list[float | str]:
    """Return the seconds of a GEMM of random matrices on this process's GPU with each configuration, or
    error messages.

    The number of the task makes it differ from others: Dask takes functions for pure, and returns the
    result of an equal task.
    """
    try:
        with _LOCK:
            gpu_name()  # makes the GPU current in this thread
            return list(_stopwatch(problem, m, n, k)(configs))
    except Exception as error:  # not every exception can be pickled
        return [f"{type(error).__name__}: {error}"] * len(configs)


@lru_cache(maxsize=1)
def _stopwatch(problem: Problem, m: int, n: int, k: int) -> Stopwatch:
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


@contextmanager
def local_processes(count: int | None = None) -> Iterator[Executor]:
    """Give an executor with processes of this machine, by default one less than its processors, at most
    eight."""
    # One processor is left to the program. A CUDA context does not survive a fork, so processes are
    # spawned.
    count = count or min(_MAX_PROCESSES, max(1, (os.cpu_count() or 2) - 1))
    pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def hidden_main_module() -> Iterator[None]:
    """Hide the program's main module from processes that are spawned meanwhile.

    They do not need it, and would run a script again that does not check `__name__ == "__main__"`.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
