"""`@sl.autotune`: which configuration a call uses, what is measured, and what is kept."""

import json
import re
import warnings

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.language import autotuning
from mlir_smem.runtime import LaunchError

CONFIGS = [sl.Config(rows=64), {"rows": 128}, sl.Config(rows=192)]


@sl.kernel("(M,64), (M,64), (), (N)")
def scale(A, B, a, names, *, rows, tile=64, dtype=sl.f32):
    """Multiply by a number."""
    row = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], rows), rows)) * rows
    # More than a thread block has.
    sl.alloc((64, tile), dtype)
    for first in range(0, rows, 64):
        block = sl.ds(row + first, 64)
        sl.store(sl.load(B[block, :]) + sl.load(A[block, :]) * a, B[block, :])


def arguments(rows=384, names=8, dtype=np.float32):
    return (
        np.ones((rows, 64), dtype),
        np.ones((rows, 64), dtype),
        np.float32(2),
        np.ones(names, np.int32),
    )


# -- on the emulator -------------------------------------------------------------------------------


def test_the_emulator_runs_the_first_that_fits():
    tuned = sl.autotune(CONFIGS[::-1])(scale)
    assert tuned.best_config is None
    for rows, config in ((384, {"rows": 192}), (256, {"rows": 128}), (64, {"rows": 64})):
        x, y, *numbers = arguments(rows)
        tuned(x, y, *numbers, on="cpu")
        assert tuned.best_config == config
        assert (y == 3).all()


def test_a_configuration_that_does_not_compile_is_left_out():
    tuned = sl.autotune([sl.Config(tile=4096), sl.Config(tile=64)])(scale)
    x, y, *numbers = arguments()
    tuned(x, y, *numbers, rows=64, on="cpu")
    assert tuned.best_config == {"tile": 64}
    assert (y == 3).all()


def test_if_none_is_left_the_error_says_why():
    tuned = sl.autotune([sl.Config(rows=256), sl.Config(rows=64, tile=4096)])(scale)
    with pytest.raises(sl.TuningError) as caught:
        tuned(*arguments(384), on="cpu")
    first, second, third = str(caught.value).split("\n  Config")
    assert first == "no configuration could be measured"
    assert second.startswith("(rows=256): CallError: M is 384; expected a positive multiple of 256")
    assert re.match(r"\(rows=64, tile=4096\): TraceError: \S+:\d+:\d+: .*bytes", third)


def test_a_wrong_argument_is_a_call_error():
    x, y, *numbers = arguments()
    with pytest.raises(sl.CallError, match=r"A is \[384, 32\]; expected \(M, 64\)"):
        sl.autotune(CONFIGS)(scale)(x[:, :32], y, *numbers, on="cpu")


def test_a_grid_may_depend_on_the_configuration():
    @sl.autotune([sl.Config(rows=64), sl.Config(rows=128)])
    @sl.kernel("(M,64)")
    def ones(A, *, rows):
        row = sl.block_id(0) * rows
        for first in range(0, rows, 64):
            sl.store(sl.full((64, 64), 1.0, sl.f32), A[sl.ds(row + first, 64), :])

    x = np.zeros((256, 64), np.float32)
    ones[lambda config: 256 // config["rows"]](x, on="cpu")
    assert x.all() and ones.best_config == {"rows": 64}
    y = np.zeros((256, 64), np.float32)
    ones[1](y, on="cpu")
    assert y[:64].all() and not y[64:].any()


# -- on a GPU, with a stand-in for it ---------------------------------------------------------------


class Array:
    """An array on a GPU."""

    def __init__(self, host):
        self.host, self.dtype, self.shape = host, host.dtype, host.shape


class Copy:
    alive = 0

    def __init__(self, name, array):
        assert isinstance(array, Array)
        self.name, self.restored = name, 0
        Copy.alive += 1

    def restore(self, stream):
        self.restored += 1

    def close(self):
        Copy.alive -= 1


class Gpu:
    """What is launched, with which arrays; `seconds` by configuration."""

    def __init__(self):
        self.launches, self.prepared, self.seconds = [], [], {64: 3.0, 128: 1.0, 192: 2.0}

    def prepare(self, *arrays, rows, **constants):
        if rows not in self.seconds:
            warnings.warn("spills", sl.PerformanceWarning, stacklevel=1)
            raise LaunchError(f"{rows} rows do not fit")
        gpu = self

        class Launch:
            def launch(self, stream=None):
                gpu.launches.append((rows, arrays))

        self.prepared.append((rows, arrays))
        return Launch()


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    gpu = Gpu()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "cache"))

    class Stopwatch:
        def __init__(self, prepare):
            self.prepare = prepare

        def __call__(self, configs):
            for config in configs:
                try:
                    self.prepare(config).launch(7)
                    yield gpu.seconds[config["rows"]]
                except LaunchError as error:
                    yield str(error)

        def close(self):
            pass

    Device = type("Device", (), {"device": 0})
    for name, value in {
        "Stopwatch": Stopwatch,
        "DeviceCopy": Copy,
        "device_array": lambda name, array: Device(),
        "gpu_name": lambda device: "a GPU",
        "architecture": lambda device: "sm_90a",
        "current_device": lambda: 0,
        "preserve_current_device": warnings.catch_warnings,
        "is_cached": lambda *_, **__: True,
    }.items():
        monkeypatch.setattr(autotuning, name, value)
    monkeypatch.setattr(sl.Kernel, "prepare", lambda self, *arrays, **c: gpu.prepare(*arrays, **c))
    monkeypatch.setattr(
        sl.Kernel, "__call__", lambda self, *a, on, stream, arch, **c: gpu.prepare(*a, **c).launch()
    )
    return gpu


def on_gpu(*sizes, **options):
    return [Array(a) if isinstance(a, np.ndarray) and a.ndim else a for a in arguments(*sizes)]


def test_the_fastest_is_used_and_measured_once(gpu):
    tuned = sl.autotune(CONFIGS, key=["M"])(scale)
    given = on_gpu()
    tuned(*given)
    assert tuned.best_config == {"rows": 128}
    *measured, (rows, arrays) = gpu.launches
    assert rows == 128 and list(arrays) == given
    # The launches that are measured have copies, but for numbers; these are freed.
    for _, (a, b, number, names) in measured:
        assert [copied.name for copied in (a, b, names)] == ["A", "B", "names"] and number == 2
    assert Copy.alive == 0
    gpu.launches.clear()
    tuned(*given)
    tuned.prepare(*given).launch()
    assert [rows for rows, _ in gpu.launches] == [128, 128]


@pytest.mark.parametrize(
    "change, measures",
    [
        ({"rows": 768}, True),
        ({"names": 9}, False),
        ({"dtype": np.float16}, True),
        ({"number": np.float32(3)}, False),
        ({"constant": 64}, True),
    ],
)
def test_the_key(gpu, change, measures):
    tuned = sl.autotune(CONFIGS, key=["M"])(scale)
    tuned(*on_gpu())
    gpu.launches.clear()
    number, constant = change.pop("number", None), change.pop("constant", None)
    a, b, two, names = arguments(**change)
    given = [Array(a), Array(b), number or two, Array(names)]
    if a.dtype == np.float16:
        given[2] = np.float16(2)
    tuned(*given, **({"tile": constant} if constant else {}))
    assert (len(gpu.launches) > 1) == measures


def test_a_number_may_be_in_the_key(gpu):
    tuned = sl.autotune(CONFIGS, key=["a", "N"])(scale)
    for number, measures in ((2, True), (2, False), (3, True)):
        gpu.launches.clear()
        a, b, _, names = on_gpu()
        tuned(a, b, np.float32(number), names)
        assert (len(gpu.launches) > 1) == measures


def test_the_result_is_kept_on_disk(gpu, tmp_path, monkeypatch):
    sl.autotune(CONFIGS, key=["M"])(scale)(*on_gpu())
    (path,) = (tmp_path / "cache").glob("*.tuned.json")
    assert json.loads(path.read_text())["config"] == "Config(rows=128)"
    gpu.launches.clear()
    again = sl.autotune(CONFIGS, key=["M"])(scale)
    again(*on_gpu())
    assert [rows for rows, _ in gpu.launches] == [128]
    # Other configurations and keys are measured; with MLIR_SMEM_TUNED=off all are.
    for configs, key, used in (
        (CONFIGS[1:], ["M"], "on"),
        (CONFIGS, ["M", "N"], "on"),
        (CONFIGS, ["M"], "off"),
    ):
        monkeypatch.setenv("MLIR_SMEM_TUNED", used)
        gpu.launches.clear()
        sl.autotune(configs, key=key)(scale)(*on_gpu())
        assert len(gpu.launches) > 1


def test_the_default_stays_unless_another_is_faster(gpu):
    gpu.seconds = dict.fromkeys((64, 128, 192), 1.0)
    tuned = sl.autotune(CONFIGS)(scale)
    tuned(*on_gpu())
    assert tuned.best_config == {"rows": 64}


def test_what_does_not_fit_is_left_out(gpu, recwarn):
    del gpu.seconds[64], gpu.seconds[128]
    tuned = sl.autotune(CONFIGS)(scale)
    tuned(*on_gpu())
    assert tuned.best_config == {"rows": 192}
    assert list(recwarn) == []


def test_none_is_left_on_a_gpu(gpu):
    gpu.seconds.clear()
    configs = [sl.Config(rows=64), sl.Config(rows=128), sl.Config(rows=-64)]
    with pytest.raises(sl.TuningError) as caught:
        sl.autotune(configs)(scale)(*on_gpu())
    text = str(caught.value)
    assert "Config(rows=64): LaunchError: 64 rows do not fit" in text
    assert "Config(rows=128): LaunchError: 128 rows do not fit" in text
    assert re.search(r"Config\(rows=-64\): TraceError: \S+test_autotune.py:\d+", text)
    assert Copy.alive == 0


def test_arrays_are_restored_before_each_launch(gpu):
    tuned = sl.autotune(CONFIGS, restore_value=["B"])(scale)
    tuned(*on_gpu())
    copies = {id(array): array for _, arrays in gpu.launches[:-1] for array in arrays[:2]}
    assert {array.name: array.restored > 0 for array in copies.values()} == {"A": False, "B": True}
    (b,) = (array for array in copies.values() if array.name == "B")
    assert b.restored == len(gpu.launches) - 1


def test_one_configuration_is_not_measured(gpu):
    sl.autotune(CONFIGS[:1])(scale)(*on_gpu())
    assert len(gpu.launches) == 1


# -- mistakes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decorate, message",
    [
        (lambda: sl.autotune([])(scale), "sl.autotune of scale has no configurations"),
        (
            lambda: sl.autotune([{"cols": 1}])(scale),
            "scale has no constant cols; it has dtype, rows, tile",
        ),
        (
            lambda: sl.autotune(CONFIGS, key=["K"])(scale),
            "scale has no extent or number for a key K; it has M, N, a",
        ),
        (
            lambda: sl.autotune(CONFIGS, restore_value=["a"])(scale),
            "scale has no array to restore a; it has A, B, names",
        ),
        (
            lambda: sl.autotune(CONFIGS)(len),
            "sl.autotune decorates <built-in function len>; write it above @sl.kernel(...)",
        ),
        (
            lambda: sl.autotune(CONFIGS)(scale)(*arguments(), rows=64, on="cpu"),
            "scale is called with rows, which sl.autotune chooses; call scale.kernel to give it",
        ),
    ],
)
def test_mistakes(decorate, message):
    with pytest.raises(sl.TraceError) as caught:
        decorate()
    assert str(caught.value) == message


def test_arrays_of_the_host_are_a_call_error():
    with pytest.raises(sl.CallError, match="A is in host memory"):
        sl.autotune(CONFIGS)(scale)(*arguments())


def test_reprs():
    tuned = sl.autotune(CONFIGS)(scale)
    assert repr(tuned) == f"{repr(scale)[:-1]}, autotuned among 3 configurations>"
    assert (tuned.__name__, tuned.__doc__) == ("scale", "Multiply by a number.")
    assert len({sl.Config(a=1, b=2), sl.Config(b=2, a=1)}) == 1
