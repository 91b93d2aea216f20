"""`tune(a, b, out)`: find the fastest configuration of a GEMM by measurement, and keep it on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

from ....runtime import Prepared
from ....runtime.devices import gpu_name
from ....runtime.tuning.halving import SearchResult
from ....runtime.tuning.timing import Stopwatch
from ...search import Search
from ..call.matmul import describe_operands, forget_calls, prepare
from ..call.tuning_cache import Task, read_tuned, write_tuned
from ..generator.candidates import candidates, choose
from ..generator.config import Config
from ..generator.kernel import text
from ..generator.problem import Problem
from .random_operands import random_operands
from .shapes import GemmShape
from .workers import RemoteStopwatch


def tune(
    a: Any,
    b: Any,
    out: Any,
    *,
    epilogue: Callable[..., Any] | None = None,
    operands: Mapping[str, Any] | None = None,
    gated: str | None = None,
    configs: Iterable[Config] | None = None,
    executor: Executor | None = None,
    measure: str = "local",
    progress: bool = True,
    budget: float | None = None,
) -> Config:
    """Return the fastest configuration for `matmul(a, b, out)`; `out` is overwritten.

    The default always takes part. Another configuration is the result only if it is proven to be faster:
    each round of measurements has its ratio to the default's, and a sign test judges the last 15 (see
    `halving`).

    The result is kept on disk next to the compiled kernels (`MLIR_SMEM_CACHE`) by the GPU's name, the
    element types, major-ness and extents: the next call with the same `configs` returns at once. With
    `MLIR_SMEM_TUNED=off` in the environment `matmul` uses no result, and no table of the package.

    Args:
        a, b, out: as for `matmul`.
        epilogue, operands, gated: as for `matmul`; they are measured locally.
        configs: the configurations to measure besides the default; `candidates` of the GEMM if None.
            Those that do not fit, compile or launch are dropped.
        executor: compiles or, with `measure="remote"`, measures: an executor of `concurrent.futures` or
            with its interface, for example Dask's `client.get_executor()`, or to measure
            `client.get_executor(resources={"GPU": 1})` of workers that have this resource: a worker
            measures one round at a time, and the rounds of one that dies are measured by another.
            Processes of this machine if None.
        measure: "local", on these arrays and their GPU; or "remote", by the executor's workers, each on
            its own GPU of the same model, with random matrices of the same shapes and types.
        progress: whether to show a progress bar on stderr, if that is a terminal.
        budget: about the seconds that the search may take. Configurations that are not compiled by then
            are dropped, but the default is waited for; the first round and the last 15, which decide,
            are always measured, in about a second.

    Raises:
        ProblemError, LaunchError: as in `matmul`.
        TuningError: if no configuration could be measured; the message has the reason for each.
        ValueError: for another `measure`, or for "remote" without an executor or with an epilogue.

    Example:
        >>> import torch  # on a GPU
        >>> a, b, c = (torch.ones(512, 512, device="cuda").bfloat16() for _ in "ABC")  # on a GPU
        >>> config = tune(a, b, c, progress=False)  # on a GPU
        >>> matmul(a, b, c, config=config) is c  # on a GPU
        True
    """
    if measure not in ("local", "remote"):
        raise ValueError(f"measure is {measure!r}; expected 'local' or 'remote'")
    if measure == "remote" and executor is None:
        raise ValueError("measure='remote' needs an executor whose workers have GPUs")
    if measure == "remote" and epilogue is not None:
        raise ValueError("measure='remote' measures no epilogue; expected measure='local'")
    gemm_operands = describe_operands(a, b, out, epilogue, operands, gated)
    gemm = gemm_operands.problem, gemm_operands.m, gemm_operands.n, gemm_operands.k
    if remote := executor if measure == "remote" else None:
        task = _task(remote.submit(gpu_name).result(), *gemm, gemm_operands.batch, configs)
        return read_tuned(task) or _search_remotely(task, remote, progress, budget).config
    task = _task(gpu_name(gemm_operands.device), *gemm, gemm_operands.batch, configs)
    tuned = read_tuned(task)
    if tuned is not None:
        return tuned
    ready = partial(prepare, a, b, out, epilogue=epilogue, operands=operands, gated=gated)
    return _search_locally(task, ready, executor, progress, budget).config


class Tuned(NamedTuple):
    """The result of `tune_shape`.

    Attributes:
        config: the fastest configuration.
        speed: its speed, relative to the default's; None if that was not measured now.
    """

    config: Config
    speed: float | None


def tune_shape(
    shape: GemmShape,
    remote: Executor | None = None,
    progress: bool = True,
    budget: float | None = None,
) -> Tuned:
    """Tune a GEMM of random matrices, as `tune` does, on the current GPU.

    Args:
        shape: the GEMM.
        remote: an executor whose workers measure, each on its own GPU; None for this process.
        progress, budget: as for `tune`.

    Raises:
        LaunchError, TuningError: as `tune`.
    """
    gpu = remote.submit(gpu_name).result() if remote else gpu_name()
    task = _task(gpu, *shape.gemm)
    tuned = read_tuned(task)
    if tuned is not None:
        return Tuned(tuned, None)
    if remote:
        result = _search_remotely(task, remote, progress, budget)
    else:
        ready = partial(prepare, *random_operands(*shape.gemm))
        result = _search_locally(task, ready, None, progress, budget)
    default = result.seconds.get(task.configs[0])
    return Tuned(result.config, default and default / result.seconds[result.config])


def _task(
    gpu: str,
    problem: Problem,
    m: int,
    n: int,
    k: int,
    batch: tuple[int, ...] = (),
    configs: Iterable[Config] | None = None,
) -> Task:
    gemm = problem, m, n, k
    alternatives = candidates(*gemm, batch=batch) if configs is None else configs
    measured = dict.fromkeys([choose(*gemm, batch=batch), *alternatives])
    return Task(gpu, *gemm, tuple(measured), configs is not None, batch)


def search_of(
    task: Task,
    progress: bool,
    budget: float | None,
    clock: Callable[[], float] = time.monotonic,
) -> Search[Config]:
    """Return the search for a task's configuration; `clock` as for `Search`."""

    def check(config: Config) -> None:
        config.check(task.problem)

    return Search(task.configs, check, partial(text, task.problem), progress, budget, clock)


def _search_locally(
    task: Task,
    ready: Callable[[Config], Prepared],
    executor: Executor | None,
    progress: bool,
    budget: float | None,
) -> SearchResult[Config]:
    """Search on arrays of this process, which `ready` prepares a launch with, and keep the result."""
    search = search_of(task, progress, budget)
    search.compile(executor)
    with closing(Stopwatch(ready)) as stopwatch:
        return _write_result(task, search.fastest(stopwatch))


def _search_remotely(
    task: Task, executor: Executor, progress: bool, budget: float | None
) -> SearchResult[Config]:
    """Search on the GPUs of an executor's workers, and keep the result."""
    stopwatch = RemoteStopwatch(executor, task.problem, task.m, task.n, task.k)
    return _write_result(task, search_of(task, progress, budget).fastest(stopwatch))


def _write_result(task: Task, result: SearchResult[Config]) -> SearchResult[Config]:
    write_tuned(task, result)
    forget_calls()
    return result
