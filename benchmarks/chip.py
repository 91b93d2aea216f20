"""Clock, power and temperature of the GPU during a measurement."""

import threading
from statistics import median
from types import TracebackType
from typing import Self

_EVERY = 0.1


class Chip:
    """Sample the first GPU ten times a second, in a thread, if NVML's package is installed."""

    def __init__(self) -> None:
        self._samples: dict[str, list[float]] = {"sm MHz": [], "W": [], "C": []}
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        try:
            import pynvml

            pynvml.nvmlInit()
            self._thread = threading.Thread(target=self._sample, daemon=True)
            self._thread.start()
        except Exception as error:  # the package or the driver's library is missing
            print(f"no clocks in the record: {error}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def summary(self) -> dict[str, dict[str, float]]:
        """The minimum, median and maximum of each; empty without samples."""
        return {
            name: {"least": min(samples), "median": median(samples), "most": max(samples)}
            for name, samples in self._samples.items()
            if samples
        }

    def _sample(self) -> None:
        import pynvml

        device = pynvml.nvmlDeviceGetHandleByIndex(0)
        while not self._over.wait(_EVERY):
            clock = pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM)
            power = pynvml.nvmlDeviceGetPowerUsage(device) / 1e3
            heat = pynvml.nvmlDeviceGetTemperature(device, pynvml.NVML_TEMPERATURE_GPU)
            for name, sample in zip(self._samples, (clock, power, heat), strict=True):
                self._samples[name].append(sample)
