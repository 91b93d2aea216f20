"""The time of a kernel with each configuration, measured with CUDA events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol

from ..errors import LaunchError
from .halving import C

#: Seconds of a batch, and seconds for which the first configuration runs before any measurement, until
#: the chip's clock has risen.
_BATCH, _WARM_UP = 0.010, 0.2


class Launchable(Protocol):
    """What starts a kernel: a `Prepared`, for example."""

    def launch(self, stream: Any = None) -> None:
        """Start the kernel, on a stream."""
        ...


class Stopwatch(Generic[C]):
    """Measures configurations on the current GPU; a `Measure` of `halving`.

    A configuration is prepared at its first measurement. A batch is about 10 ms of launches, after one
    that is not timed.

    Args:
        prepare: prepares the launch of a configuration.
    """

    def __init__(self, prepare: Callable[[C], Launchable]) -> None:
        self._prepare = prepare
        self._ready: dict[C, tuple[Launchable, int]] = {}
        self._clock: _Clock | None = None

    def __call__(self, configs: Sequence[C]) -> Iterator[float | str]:
        for config in configs:
            try:
                yield self._batch(config)
            except Exception as error:  # the other configurations may still run
                yield f"{type(error).__name__}: {error}"

    def close(self) -> None:
        """Release the stream and the events."""
        if self._clock is not None:
            self._clock.close()

    def _batch(self, config: C) -> float:
        if config not in self._ready:
            self._ready[config] = self._make_ready(config)
        launch, count = self._ready[config]
        assert self._clock is not None
        return self._clock.seconds(launch, count)

    def _make_ready(self, config: C) -> tuple[Launchable, int]:
        launch = self._prepare(config)
        if self._clock is None:
            clock = _Clock()
            end = time.perf_counter() + _WARM_UP
            while time.perf_counter() < end:
                clock.seconds(launch, 1)
            self._clock = clock
        return launch, max(1, round(_BATCH / self._clock.seconds(launch, 1)))


class _Clock:
    """A stream and two events of the current GPU."""

    def __init__(self) -> None:
        import cuda.bindings.driver as driver

        self._driver = driver
        # Copies to the arrays may still run on other streams.
        self._do("cuCtxSynchronize")
        flags = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        self._stream = self._do("cuStreamCreate", flags)
        self._start, self._end = self._do("cuEventCreate", 0), self._do("cuEventCreate", 0)

    def seconds(self, launch: Launchable, count: int) -> float:
        """Return the mean seconds of `count` launches, after one that is not timed."""
        stream = int(self._stream)
        launch.launch(stream)
        self._do("cuEventRecord", self._start, self._stream)
        for _ in range(count):
            launch.launch(stream)
        self._do("cuEventRecord", self._end, self._stream)
        self._do("cuEventSynchronize", self._end)
        return self._do("cuEventElapsedTime", self._start, self._end) / 1e3 / count

    def close(self) -> None:
        # Errors are ignored: after a failed kernel every call fails, and the context is lost.
        for event in (self._start, self._end):
            self._driver.cuEventDestroy(event)
        self._driver.cuStreamDestroy(self._stream)

    def _do(self, call: str, *arguments: Any) -> Any:
        """Call a function of the driver and return its result.

        Raises:
            LaunchError: if it fails; after a failed kernel every call does.
        """
        error, *results = getattr(self._driver, call)(*arguments)
        if error != self._driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(f"{call} fails: {error.name}")
        return results[0] if results else None
