"""`tune(a, b, out)`: find the fastest configuration of a GEMM by measurement, and keep it on disk."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import closing
from typing import Any

from ....runtime import device_array
from ..call.device import gpu_name
from ..call.matmul import forget_calls, prepare
from ..call.operands import operands
from ..call.tuning_cache import Task, read_tuned, write_tuned
from ..generator.candidates import candidates, choose
from ..generator.config import Config
from .search import Search
from .timing import Stopwatch
from .workers import RemoteStopwatch


def tune(
    a: Any,
    b: Any,
    out: Any,
    *,
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
            are dropped, but the default is waited for; one round is always measured. If the budget ends
            before the last 15 rounds decide, the default is the result.

    Raises:
        ProblemError, LaunchError: as in `matmul`.
        TuningError: if no configuration could be measured; the message has the reason for each.
        ValueError: for another `measure`, or for "remote" without an executor.

    Example:
        >>> import torch  # on a GPU
        >>> a, b, c = (torch.ones(512, 512, device="cuda").bfloat16() for _ in "ABC")  # on a GPU
        >>> tune(a, b, c, configs=[Config()], progress=False) == Config()  # on a GPU
        True
    """
    if measure not in ("local", "remote"):
        raise ValueError(f"measure is {measure!r}; expected 'local' or 'remote'")
    if measure == "remote" and executor is None:
        raise ValueError("measure='remote' needs an executor whose workers have GPUs")
    of, _ = operands(device_array("A", a), device_array("B", b), device_array("C", out))
    gemm = of.problem, of.m, of.n, of.k
    remote = executor if measure == "remote" else None
    gpu = remote.submit(gpu_name).result() if remote else gpu_name(of.device)
    others = candidates(*gemm, batch=of.batch) if configs is None else configs
    measured = dict.fromkeys([choose(*gemm, batch=of.batch), *others])
    task = Task(gpu, *gemm, tuple(measured), configs is not None, of.batch)
    found = read_tuned(task)
    if found is not None:
        return found
    search = Search(task, progress, budget)
    if remote:
        result = search.fastest(RemoteStopwatch(remote, *gemm))
    else:
        search.compile(executor)
        with closing(Stopwatch(lambda config: prepare(a, b, out, config))) as stopwatch:
            result = search.fastest(stopwatch)
    write_tuned(task, result)
    forget_calls()
    return result.config
