"""What executors are given to do: kernels to compile, configurations to measure on their own GPUs."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from types import ModuleType

from ....runtime import cached_compile
from ..call.device import gpu_name
from ..call.matmul import prepare
from ..generator.config import Config
from ..generator.problem import Problem
from .random_operands import random_operands
from .timing import Stopwatch

#: Processes that compile at a time, at most.
_MOST_PROCESSES = 8

#: Of the threads of a process, one at a time compiles (the bindings allow no more) or measures.
_LOCK = Lock()


def compile_to_cache(text: str) -> str | None:
    """Compiles a kernel and keeps it on disk; says why it cannot be compiled, if so."""
    try:
        with _LOCK:
            cached_compile(text)
    except Exception as error:  # not every exception survives the way to another process
        return f"{type(error).__name__}: {error}"
    return None


def measure_on_worker(problem: Problem, m: int, n: int, k: int, config: Config) -> float | str:
    """Seconds of a product of random matrices on this process's GPU, or why there is none."""
    try:
        with _LOCK:
            gpu_name()  # makes the GPU this thread's
            (time,) = _stopwatch(problem, m, n, k)([config])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return time


@lru_cache(maxsize=1)
def _stopwatch(problem: Problem, m: int, n: int, k: int) -> Stopwatch:
    arrays = random_operands(problem, m, n, k)
    return Stopwatch(lambda config: prepare(*arrays, config))


class RemoteStopwatch:
    """Measures configurations on the GPUs of an executor's workers; a `Measure` of `halving`."""

    def __init__(self, executor: Executor, problem: Problem, m: int, n: int, k: int) -> None:
        self._executor = executor
        self._product = problem, m, n, k

    def __call__(self, configs: Sequence[Config]) -> Iterator[float | str]:
        futures = [self._executor.submit(measure_on_worker, *self._product, c) for c in configs]
        for future in futures:
            try:
                yield future.result()
            except Exception as error:  # a worker that is gone
                yield f"{type(error).__name__}: {error}"


@contextmanager
def local_processes() -> Iterator[Executor]:
    """Processes of this machine, to compile in."""
    # One processor is left to the program. GPUs do not survive a fork, so processes are started anew.
    count = min(_MOST_PROCESSES, max(1, (os.cpu_count() or 2) - 1))
    pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def hidden_main_module() -> Iterator[None]:
    """Processes that are started meanwhile do not import the program's main module.

    They need nothing of it, and would run a script anew that does not ask whether it is main.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
