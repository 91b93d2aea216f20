"""A search: compile the configurations that fit in parallel, then measure them one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import nullcontext
from typing import Any, Generic

from tqdm import tqdm

from ..runtime import cache_folder, is_cached
from ..runtime.tuning.compiling import compile_to_cache, hidden_main_module, local_processes
from ..runtime.tuning.halving import C, Measure, SearchResult, batches, halving
from .errors import ConfigError

#: The reason to drop a configuration that was not compiled within the budget.
_LATE = "it was not compiled within the budget"


class Search(Generic[C]):
    """The search for the fastest configuration of a kernel.

    Args:
        configs: the configurations, the default first.
        check: raises a ConfigError for one that does not fit.
        text: returns the kernel of one.
        progress: whether to show progress bars on stderr, if that is a terminal.
        budget: seconds after which no more work is started; None for no limit.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        configs: Iterable[C],
        check: Callable[[C], None],
        text: Callable[[C], str],
        progress: bool,
        budget: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._text = text
        self._disabled = None if progress else True
        self._clock = clock
        self._end = float("inf") if budget is None else clock() + budget
        self._dropped: dict[C, str] = {}
        self._left: list[C] = []
        for config in configs:
            try:
                check(config)
            except ConfigError as error:
                self._dropped[config] = f"ConfigError: {error}"
            else:
                self._left.append(config)

    def compile(self, executor: Executor | None = None) -> None:
        """Compile the kernels that are not in the cache, several at a time, into the cache.

        If the cache is off, each kernel is compiled at its first launch.

        Args:
            executor: runs the compilations; processes of this machine if None.
        """
        if cache_folder() is None:
            return
        texts = {config: self._text(config) for config in self._left}
        missing = [config for config in self._left if not is_cached(texts[config])]
        if not missing:
            return
        with nullcontext(executor) if executor else local_processes() as compilers:
            with nullcontext() if executor else hidden_main_module():
                futures = {
                    compilers.submit(compile_to_cache, texts[config]): config for config in missing
                }
            for future in self._completions(futures):
                reason = future.result()
                if reason is not None:
                    self._drop(futures[future], reason)

    def _completions(self, futures: dict[Future[Any], C]) -> Iterator[Future[Any]]:
        """Yield the futures that complete within the budget, and later ones until the default is compiled
        and a configuration is ready."""
        default = next((f for f, config in futures.items() if config == self._left[0]), None)
        waiting = set(futures)
        with self._bar("compiling", "kernel", len(futures)) as bar:
            for future in as_completed(futures):
                waiting.discard(future)
                bar.update()
                yield future
                ready = len(self._left) > len(waiting)
                if ready and default not in waiting and waiting and self._is_over():
                    break
        for future in waiting:
            future.cancel()
            self._drop(futures[future], _LATE)

    def fastest(self, measure: Measure[C]) -> SearchResult[C]:
        """Measure the remaining configurations.

        Raises:
            TuningError: if no configuration could be measured.
        """
        with self._bar("measuring", "batch", batches(len(self._left))) as bar:

            def measure_with_progress(configs: Sequence[C]) -> Iterator[float | str]:
                for measured in measure(configs):
                    bar.update()
                    yield measured

            return halving(self._left, measure_with_progress, self._is_over, self._dropped)

    def _drop(self, config: C, reason: str) -> None:
        self._left.remove(config)
        self._dropped[config] = reason

    def _is_over(self) -> bool:
        return self._clock() > self._end

    def _bar(self, description: str, unit: str, total: int) -> Any:
        return tqdm(desc=description, unit=unit, total=total, disable=self._disabled, leave=False)
