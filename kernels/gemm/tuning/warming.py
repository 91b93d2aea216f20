"""Compile the kernels of many GEMMs into the cache, in parallel and without a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field
from typing import Any

from ....runtime import is_cached
from ....runtime.tuning.compiling import compile_to_cache
from ..generator.candidates import candidates, choose
from ..generator.config import Config
from ..generator.kernel import text
from ..generator.problem import Problem
from .shapes import GemmShape

#: A kernel: GEMMs of other extents share it.
GemmKernel = tuple[Problem, Config]


@dataclass
class Warmed:
    """What became of the kernels.

    Attributes:
        compiled: those that are now in the cache.
        cached: those that were.
        failed: the reasons of others.
    """

    compiled: list[GemmKernel] = field(default_factory=list)
    cached: list[GemmKernel] = field(default_factory=list)
    failed: dict[GemmKernel, str] = field(default_factory=dict)


def kernels_of(shapes: Iterable[GemmShape], with_candidates: bool) -> list[GemmKernel]:
    """Return the different kernels of GEMMs: the default's of each, and those that `tune` measures."""
    kernels: dict[GemmKernel, None] = {}
    for shape in shapes:
        configs = [choose(*shape.gemm)]
        if with_candidates:
            configs += candidates(*shape.gemm)
        kernels |= {(shape.problem, config): None for config in configs}
    return list(kernels)


def warm(
    kernels: Iterable[GemmKernel],
    arch: str,
    executor: Executor,
    progress: Callable[[Iterator[Any], int], Iterable[Any]] = lambda done, total: done,
) -> Warmed:
    """Compile kernels that are not in the cache.

    Args:
        kernels: the kernels.
        arch: the architecture to compile for.
        executor: compiles; its workers write to the same cache.
        progress: wraps the iterator of completed compilations, of which it gets the number.
    """
    result = Warmed()
    futures = {}
    for kernel in kernels:
        written = text(*kernel)
        if is_cached(written, arch):
            result.cached.append(kernel)
        else:
            futures[executor.submit(compile_to_cache, written, arch)] = kernel
    for future in progress(as_completed(futures), len(futures)):
        kernel = futures[future]
        try:
            reason = future.result()
        except Exception as error:  # the worker has ended
            reason = f"{type(error).__name__}: {error}"
        if reason is None:
            result.compiled.append(kernel)
        else:
            result.failed[kernel] = reason
    return result
