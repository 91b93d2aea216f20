"""The stopwatch, with a stand-in for the driver."""

import sys
import types

import pytest

from mlir_smem.kernels.gemm import Config
from mlir_smem.runtime import LaunchError
from mlir_smem.runtime.devices import gpu_name
from mlir_smem.runtime.tuning.timing import Stopwatch

SLOW, FAST = Config(group=1), Config(group=2)


class Driver:
    """A GPU whose clock advances with a launch; it records streams and events that are not destroyed
    yet."""

    CUresult = types.SimpleNamespace(CUDA_SUCCESS=types.SimpleNamespace(name="CUDA_SUCCESS"))
    CUstream_flags = types.SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    LOST = types.SimpleNamespace(name="CUDA_ERROR_ILLEGAL_ADDRESS")

    def __init__(self):
        self.ms, self.events, self.launches, self.handles, self.lost = 0.0, {}, [], set(), False

    def __getattr__(self, name):
        call = getattr(type(self), "do_" + name)
        return lambda *arguments: (
            (self.LOST,)
            if self.lost
            else (self.CUresult.CUDA_SUCCESS, *(call(self, *arguments) or ()))
        )

    def do_cuCtxSynchronize(self):  # noqa: N802
        pass

    def do_cuStreamCreate(self, flags):  # noqa: N802
        assert flags == 1
        self.handles.add(77)
        return (77,)

    def do_cuEventCreate(self, flags):  # noqa: N802
        self.handles.add(len(self.handles))
        return (len(self.handles) - 1,)

    def do_cuEventRecord(self, event, stream):  # noqa: N802
        assert stream == 77
        self.events[event] = self.ms

    def do_cuEventSynchronize(self, event):  # noqa: N802
        pass

    def do_cuEventElapsedTime(self, start, end):  # noqa: N802
        return (self.events[end] - self.events[start],)

    def do_cuEventDestroy(self, event):  # noqa: N802
        self.handles.remove(event)

    do_cuStreamDestroy = do_cuEventDestroy  # noqa: N815


class Launch:
    def __init__(self, driver, config):
        self.driver, self.config = driver, config

    def launch(self, stream):
        assert stream == 77
        self.driver.launches.append(self.config)
        self.driver.ms += 2.0 if self.config == SLOW else 0.5


@pytest.fixture
def driver(monkeypatch):
    driver = Driver()
    bindings = types.SimpleNamespace(driver=driver)
    monkeypatch.setitem(sys.modules, "cuda", types.SimpleNamespace(bindings=bindings))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
    monkeypatch.setattr("mlir_smem.runtime.tuning.timing._WARM_UP", 0.001)
    return driver


@pytest.fixture
def stopwatch(driver):
    return Stopwatch(lambda config: Launch(driver, config))


def test_seconds_are_those_of_one_launch(stopwatch):
    assert list(stopwatch([SLOW, FAST])) == [0.002, 0.0005]


def test_a_batch_takes_ten_milliseconds(driver, stopwatch):
    list(stopwatch([SLOW, FAST]))
    driver.launches.clear()
    list(stopwatch([SLOW, FAST]))
    # The first launch of each is not timed.
    assert driver.launches == [SLOW] * (1 + 5) + [FAST] * (1 + 20)


def test_the_chip_is_warm_before_anything_is_measured(driver, stopwatch, monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr("mlir_smem.runtime.tuning.timing._WARM_UP", 20)
    monkeypatch.setattr("time.perf_counter", lambda: float(next(now)))
    list(stopwatch([SLOW]))
    first = len(driver.launches)
    assert first > 2 * 19
    driver.launches.clear()
    list(stopwatch([FAST]))
    assert len(driver.launches) == 2 + 1 + 20


def test_a_failure_has_a_reason_and_others_have_a_time(driver):
    def prepare(config):
        if config == SLOW:
            raise LaunchError("too slow")
        return Launch(driver, config)

    assert list(Stopwatch(prepare)([SLOW, FAST])) == ["LaunchError: too slow", 0.0005]


def test_a_failed_kernel(driver, stopwatch):
    list(stopwatch([SLOW]))
    driver.lost = True
    (reason,) = stopwatch([SLOW])
    assert reason == "LaunchError: cuEventRecord fails: CUDA_ERROR_ILLEGAL_ADDRESS"


def test_streams_and_events_are_destroyed(driver, stopwatch):
    list(stopwatch([SLOW, FAST]))
    assert len(driver.handles) == 3
    stopwatch.close()
    assert driver.handles == set()


def test_errors_of_a_lost_gpu_are_ignored(driver, stopwatch):
    list(stopwatch([SLOW]))
    driver.lost = True
    stopwatch.close()


def test_a_stopwatch_that_measured_nothing(stopwatch):
    stopwatch.close()


def test_no_gpu(monkeypatch):
    def none(number=0):
        raise RuntimeError("no device")

    monkeypatch.setitem(sys.modules, "cuda", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "cuda.core", types.SimpleNamespace(Device=none))
    for number in (None, 1):
        with pytest.raises(LaunchError, match=r"^no GPU can be used: no device$"):
            gpu_name(number)
