"""`tune(q, k, v)`: find the fastest configuration of attention by measurement, and keep it on disk."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from ...runtime.tuning.cache import write_entry
from ...runtime.tuning.timing import Stopwatch
from ..search import Search
from .call.checked import AttentionOptions
from .call.descale import separate_factors
from .call.launch import PreparedAttention, describe_call, forget_calls
from .call.operands import AttentionArrays
from .call.split import parts_of
from .call.tuned import read_searched
from .generator.candidates import candidates
from .generator.config import Config
from .generator.kernel import text
from .generator.problem import Problem


def tune(
    q: Any,
    k: Any,
    v: Any,
    *,
    configs: Iterable[Config] | None = None,
    executor: Executor | None = None,
    progress: bool = True,
    budget: float | None = None,
    **options: Any,
) -> Config:
    """Return the fastest configuration for `attention(q, k, v, **options)` on the arrays' GPU.

    The default always takes part. Another configuration is the result only if it is proven to be faster:
    each round of measurements has its ratio to the default's, and a sign test judges the last 15 (see
    `runtime/tuning/halving.py`).

    The result is kept on disk next to the compiled kernels (`MLIR_SMEM_CACHE`) by the GPU's name, the
    element type, masks and extents: later calls of `attention` use it, and the next call with the same
    `configs` returns at once. With `MLIR_SMEM_TUNED=off` in the environment `attention` uses no result.

    Args:
        q, k, v: as for `attention`.
        configs: the configurations to measure besides the default; `candidates` of the problem if None.
            Those that do not fit, compile or launch are dropped.
        executor: compiles: an executor of `concurrent.futures`, or with its interface. Processes of this
            machine if None.
        progress: whether to show a progress bar on stderr, if that is a terminal.
        budget: about the seconds that the search may take, as for `gemm.tune`.
        options: the other arguments of `attention`, but config, stream and on.

    Raises:
        ProblemError, LaunchError: as in `attention`.
        TuningError: if no configuration could be measured; the message has the reason for each.
        TypeError: for an option that there is not.

    Example:
        >>> import torch  # on a GPU
        >>> q = k = v = torch.ones(1, 512, 4, 64, device="cuda").bfloat16()  # on a GPU
        >>> config = tune(q, k, v, causal=True, progress=False)  # on a GPU
        >>> float(attention(q, k, v, causal=True)[0, 0, 0, 0])  # on a GPU
        1.0
    """
    named = {name: options.pop(name, None) for name in AttentionArrays._fields[3:]}
    arrays, factors = separate_factors(AttentionArrays(q, k, v, **named))
    attention_options = AttentionOptions(**options, factors=factors)
    call = describe_call(arrays, attention_options).call
    task, problem = call.task, call.task.problem
    caller_configs = None if configs is None else list(configs)
    written = None if caller_configs is None else [asdict(config) for config in caller_configs]
    earlier = read_searched(task, written)
    if earlier is not None:
        return earlier
    alternatives = candidates(problem, task.longest) if caller_configs is None else caller_configs

    def kernel(config: Config) -> str:
        parts = parts_of(problem, task.extents, config)
        return text(replace(problem, split=parts > 1), config)

    check = partial(_check, problem)
    search = Search(dict.fromkeys([task.default, *alternatives]), check, kernel, progress, budget)
    search.compile(executor)
    ready = partial(_ready, arrays, attention_options)
    with closing(Stopwatch(ready)) as stopwatch:
        result = search.fastest(stopwatch)
    write_entry(task.key(), written, result)
    forget_calls()
    return result.config


def _check(problem: Problem, config: Config) -> None:
    config.check(problem)


def _ready(arrays: AttentionArrays, options: AttentionOptions, config: Config) -> PreparedAttention:
    return PreparedAttention(arrays, replace(options, config=config))
