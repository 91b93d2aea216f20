"""Compile kernels into the cache, by processes of this machine or an executor's."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from threading import Lock
from types import ModuleType
from typing import Any

from ..cache import cached_compile

#: The maximal number of processes that compile at the same time.
_MAX_PROCESSES = 8

#: One thread of a process at a time compiles (a limit of the bindings) or measures.
LOCK = Lock()


def compile_to_cache(
    text: str, arch: str = "sm_90a", options: Mapping[str, Any] | None = None
) -> str | None:
    """Compile a kernel into the cache, with options of `smem-to-nvvm`; return an error message, or
    None."""
    try:
        with LOCK:
            cached_compile(text, arch, **(options or {}))
    except Exception as error:  # not every exception can be pickled
        return f"{type(error).__name__}: {error}"
    return None


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
