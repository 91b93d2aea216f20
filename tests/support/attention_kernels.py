"""Kernels of attention for the emulator, each compiled and proven once for all tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.codegen import Compiled, compile
from mlir_smem.kernels.attention import Config, Problem
from mlir_smem.kernels.attention.call import emulated
from mlir_smem.kernels.attention.generator import tiles
from mlir_smem.kernels.attention.generator.kernel import text


def compile_proven(module: Any, **options: Any) -> Compiled:
    """Compile a module, and check that the order of all accesses is proven, and that no warpgroups wait
    for each other in a circle.

    Raises:
        AssertionError: if there is a remark.
    """
    remarks: list[str] = []
    with remark_handler(lambda location, message: remarks.append(f"{location}: {message}")):
        compiled = compile(module, **options)
    assert not remarks, "\n".join(remarks)
    return compiled


@contextmanager
def proven() -> Iterator[None]:
    """Check of each kernel that calls of attention compile in the `with` block that it is proven.

    A kernel that is in the cache has been checked, since those compiled before are dropped, and an
    exception is not kept.
    """
    _forget()
    emulated.compile = compile_proven
    try:
        yield
    finally:
        emulated.compile = compile
        _forget()


def _forget() -> None:
    emulated.attention_kernel.cache_clear()
    emulated._combining_kernel.cache_clear()


@cache
def kernel_by_cache(cached_bytes: int, problem: Problem, config: Config) -> Compiled:
    """Return a kernel that takes the L2 cache for one of so many bytes."""
    size, tiles._CACHED_BYTES = tiles._CACHED_BYTES, cached_bytes
    try:
        return emulated.compile(text(problem, config), emit="nvvm")
    finally:
        tiles._CACHED_BYTES = size
