"""`tune(a, b, out)`: the fastest configuration for a product, by measurement, and kept on disk."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import closing
from typing import Any

from ....runtime import device_array
from ..call.device import gpu_name
from ..call.matmul import clear_prepared, prepare
from ..call.operands import operands
from ..call.tuning_cache import Task, read_tuned, write_tuned
from ..generator.candidates import candidates
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
    """The fastest configuration for `matmul(a, b, out)`; what is in `out` is overwritten.

    What is found is kept on disk beside the compiled kernels (`MLIR_SMEM_CACHE`), for the GPU's name, the
    element types, majors and extents, and for the configurations: the next call returns at once.

    Args:
        a, b, out: as `matmul` takes them.
        configs: what to try; `candidates` of the product if left out. Those that do not fit, compile or
            launch are left out of the search.
        executor: what compiles, or with `measure="remote"` measures: any executor of `concurrent.futures`
            or like them, as Dask's `client.get_executor()`. Processes of this machine, if left out.
        measure: "local", on these arrays and their GPU; or "remote", by the executor's workers on GPUs of
            their own, all of one kind, on random matrices of that form.
        progress: whether a bar on stderr, if that is a terminal, shows how far it is.
        budget: about how many seconds the search may take. What is not compiled by then is left out, but
            for the first that is; one round is always measured.

    Raises:
        ProblemError, LaunchError: as `matmul`.
        TuningError: if no configuration could be measured; the message says why of each.
        ValueError: for another `measure`, or for "remote" without an executor.
    """
    if measure not in ("local", "remote"):
        raise ValueError(f"measure is {measure!r}; expected 'local' or 'remote'")
    if measure == "remote" and executor is None:
        raise ValueError("measure='remote' needs an executor whose workers have GPUs")
    of = operands(device_array("A", a), device_array("B", b), device_array("C", out))
    product = of.problem, of.m, of.n, of.k
    remote = executor if measure == "remote" else None
    gpu = remote.submit(gpu_name).result() if remote else gpu_name(of.device)
    task = Task(
        gpu, *product, tuple(configs) if configs is not None else tuple(candidates(*product))
    )
    found = read_tuned(task)
    if found is not None:
        return found
    search = Search(task, progress, budget)
    if remote:
        result = search.fastest(RemoteStopwatch(remote, *product))
    else:
        search.compile(executor)
        with closing(Stopwatch(lambda config: prepare(a, b, out, config))) as stopwatch:
            result = search.fastest(stopwatch)
    write_tuned(task, result)
    clear_prepared()
    return result.config
