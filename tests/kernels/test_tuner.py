"""`tune` with a stand-in for the GPU: its measurements, and the tuning cache."""

import sys
import types
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from mlir_smem.kernels.gemm import Config, Problem, TuningError, candidates, tune
from mlir_smem.kernels.gemm.call.tuning_cache import tuned_config
from mlir_smem.kernels.gemm.tuning import tuner, workers
from mlir_smem.kernels.gemm.tuning.random_operands import random_operands
from mlir_smem.kernels.gemm.tuning.shapes import parse_shape
from mlir_smem.runtime import LaunchError
from mlir_smem.runtime.arguments import DTYPES

CONFIGS = [Config(group=group) for group in (4, 8, 16, 32)]


class Launch:
    """A launch with a given time."""

    def __init__(self, seconds):
        self.seconds = seconds


class Clock:
    """The GPU's clock: it returns the time of a launch."""

    open = 0

    def __init__(self):
        Clock.open += 1

    def seconds(self, launch, count):
        assert count >= 1
        return launch.seconds

    def close(self):
        Clock.open -= 1


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """The prepared launches; `seconds` returns the time of a GEMM, or raises."""
    seen = types.SimpleNamespace(
        prepared=[], seconds=lambda config: 1.0 + (config.group != 8), name="NVIDIA H200"
    )

    def describe(a, b, out, epilogue, operands, gated):
        assert (a, b, out) == ("a", "b", "out")
        seen.epilogue = epilogue, operands, gated
        return types.SimpleNamespace(problem=Problem(), m=512, n=256, k=128, device=3, batch=())

    def prepare(a, b, out, config, epilogue=None, operands=None, gated=None):
        assert (epilogue, operands, gated) == seen.epilogue
        seen.prepared.append((a, b, out, config))
        return Launch(seen.seconds(config))

    def gpu_name(device=None):
        seen.device = device
        return seen.name

    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    monkeypatch.setattr(tuner, "describe_operands", describe)
    monkeypatch.setattr(tuner, "choose", lambda *gemm, batch: Config())
    monkeypatch.setattr(tuner, "prepare", prepare)
    monkeypatch.setattr(tuner, "gpu_name", gpu_name)
    monkeypatch.setattr("mlir_smem.runtime.tuning.timing._Clock", Clock)
    monkeypatch.setattr("mlir_smem.runtime.tuning.timing._WARM_UP", 0)
    monkeypatch.setattr("mlir_smem.kernels.search.compile_to_cache", str)
    monkeypatch.setattr("mlir_smem.kernels.search.is_cached", lambda text: True)
    monkeypatch.setattr(Clock, "open", 0)
    return seen


def test_the_fastest_is_found_on_the_arrays_given(gpu):
    assert tune("a", "b", "out", configs=CONFIGS, progress=False) == Config(group=8)
    assert Counter(gpu.prepared) == Counter(("a", "b", "out", config) for config in CONFIGS)
    assert gpu.device == 3
    assert Clock.open == 0


def test_the_second_call_measures_nothing(gpu):
    first = tune("a", "b", "out", configs=CONFIGS, progress=False)
    gpu.prepared.clear()
    assert tune("a", "b", "out", configs=CONFIGS, progress=False) == first
    assert gpu.prepared == []


def test_an_epilogue_is_measured_with_its_operands(gpu):
    fusion = {"epilogue": abs, "operands": {"bias": 1.0}, "gated": "halves"}
    assert tune("a", "b", "out", configs=CONFIGS, progress=False, **fusion) == Config(group=8)
    assert gpu.epilogue == tuple(fusion.values())


def test_workers_measure_no_epilogue(gpu):
    with pytest.raises(ValueError) as error:
        tune("a", "b", "out", epilogue=abs, executor=object(), measure="remote")
    assert str(error.value) == "measure='remote' measures no epilogue; expected measure='local'"


def test_a_shape_is_tuned_with_random_matrices(gpu, monkeypatch):
    monkeypatch.setattr(tuner, "random_operands", lambda *gemm: ("a", "b", "out"))
    gpu.epilogue = None, None, None
    monkeypatch.setattr(tuner, "candidates", lambda *gemm, batch: CONFIGS)
    monkeypatch.setattr(tuner, "choose", lambda *gemm, batch: Config())
    shape = parse_shape("512x256x128:bf16,bf16,bf16,NN")
    tuned = tuner.tune_shape(shape, progress=False)
    assert (tuned.config, tuned.speed) == (Config(group=8), 2.0)
    assert tuner.tune_shape(shape, progress=False) == (Config(group=8), None)
    # `matmul` finds it, and so does `tune`.
    assert tuned_config(gpu.name, *shape.gemm) == Config(group=8)
    gpu.prepared.clear()
    assert tune("a", "b", "out", progress=False) == Config(group=8)
    assert gpu.prepared == []


def test_another_gpu_is_measured(gpu):
    tune("a", "b", "out", configs=CONFIGS, progress=False)
    gpu.name = "NVIDIA H100"
    gpu.prepared.clear()
    tune("a", "b", "out", configs=CONFIGS, progress=False)
    assert len(gpu.prepared) == len(CONFIGS)


def test_candidates_are_tried_if_none_are_given(gpu):
    tune("a", "b", "out", progress=False)
    gemm = Problem(), 512, 256, 128
    tried = {config for *_, config in gpu.prepared}
    assert tried == {Config(), *candidates(*gemm)}
    assert len(gpu.prepared) == len(tried)


def test_the_default_takes_part(gpu):
    default = Config()
    gpu.seconds = lambda config: 1.0 + (config != default)
    assert tune("a", "b", "out", configs=[Config(group=8)], progress=False) == default


def test_what_cannot_be_launched_is_left_out(gpu):
    def seconds(config):
        if config.group == 8:
            raise LaunchError("a bad day")
        return float(config.group)

    gpu.seconds = seconds
    assert tune("a", "b", "out", configs=CONFIGS, progress=False) == Config(group=4)


def test_nothing_can_be_launched(gpu):
    def seconds(config):
        raise LaunchError("the chip is lost")

    gpu.seconds = seconds
    for _ in range(2):
        with pytest.raises(TuningError) as error:
            tune("a", "b", "out", configs=[Config()], progress=False)
        assert str(error.value) == (
            f"no configuration could be measured\n  {Config()}: LaunchError: the chip is lost"
        )


def test_the_executor_compiles(gpu, monkeypatch):
    monkeypatch.setattr("mlir_smem.kernels.search.is_cached", lambda text: False)
    texts = []
    monkeypatch.setattr("mlir_smem.kernels.search.compile_to_cache", texts.append)
    with ThreadPoolExecutor(2) as pool:
        tune("a", "b", "out", configs=CONFIGS, executor=pool, progress=False)
    assert len(set(texts)) == len(texts) == len(CONFIGS)


# Measurements by the workers of an executor.


def test_workers_measure(gpu, monkeypatch):
    asked = []

    def measure(problem, m, n, k, configs, number):
        asked.extend((problem, m, n, k, config) for config in configs)
        return [1.0 + (config.group != 32) for config in configs]

    monkeypatch.setattr(workers, "measure_on_worker", measure)
    with ThreadPoolExecutor(2) as pool:
        options = {"configs": CONFIGS, "executor": pool, "measure": "remote", "progress": False}
        assert tune("a", "b", "out", **options) == Config(group=32)
        assert {arguments[:4] for arguments in asked} == {(Problem(), 512, 256, 128)}
        assert {config for *_, config in asked} == set(CONFIGS)
        assert gpu.prepared == []
        assert gpu.device is None
        asked.clear()
        assert tune("a", "b", "out", **options) == Config(group=32)
    assert asked == []


def test_a_round_whose_worker_is_gone_is_measured_again(gpu, monkeypatch):
    rounds = []

    def measure(problem, m, n, k, configs, number):
        rounds.append(configs)
        if len(rounds) == 2:
            raise ConnectionError("lost")
        return [float(config.group) for config in configs]

    monkeypatch.setattr(workers, "measure_on_worker", measure)
    options = {"configs": CONFIGS, "measure": "remote", "progress": False}
    with ThreadPoolExecutor(1) as pool:
        assert tune("a", "b", "out", executor=pool, **options) == Config(group=4)
    assert rounds[1] == rounds[2]


def test_all_workers_are_gone(gpu, monkeypatch):
    def measure(problem, m, n, k, configs, number):
        raise ConnectionError("lost")

    monkeypatch.setattr(workers, "measure_on_worker", measure)
    options = {"configs": CONFIGS, "measure": "remote", "progress": False}
    with ThreadPoolExecutor(1) as pool, pytest.raises(TuningError, match="ConnectionError: lost"):
        tune("a", "b", "out", executor=pool, **options)


def test_a_worker_says_why_it_cannot_measure(monkeypatch):
    def no_gpu(device=None):
        raise LaunchError("no GPU can be used: none")

    monkeypatch.setattr(workers, "gpu_name", no_gpu)
    reason = "LaunchError: no GPU can be used: none"
    assert workers.measure_on_worker(Problem(), 8, 8, 8, [Config()] * 2, 0) == [reason, reason]


# What is no search.


def test_an_unknown_place(gpu):
    with pytest.raises(ValueError, match=r"^measure is 'here'; expected 'local' or 'remote'$"):
        tune("a", "b", "out", measure="here")


def test_remote_without_workers(gpu):
    with pytest.raises(
        ValueError, match=r"^measure='remote' needs an executor whose workers have GPUs$"
    ):
        tune("a", "b", "out", measure="remote")


# The operands of workers.


@pytest.mark.parametrize(
    "problem",
    [
        Problem(),
        Problem(a_major="m", b_major="k"),
        Problem("f8E4M3FN", "f8E5M2", "f32", b_major="k"),
        Problem("i8", "ui8", "i32", b_major="k"),
    ],
    ids=str,
)
def test_random_operands_fit_the_problem(monkeypatch, problem):
    monkeypatch.setitem(sys.modules, "cuda.core", types.SimpleNamespace(Device=lambda: "device"))
    monkeypatch.setattr(
        "mlir_smem.kernels.gemm.tuning.random_operands.Buffer", lambda device, array: array
    )
    a, b, c = random_operands(problem, 48, 80, 112)
    assert (a.shape, b.shape, c.shape) == ((48, 112), (112, 80), (48, 80))
    assert [array.dtype for array in (a, b, c)] == [
        DTYPES[e] for e in (problem.a, problem.b, problem.c)
    ]
    assert a.flags.c_contiguous == (problem.a_major == "k")
    assert b.flags.c_contiguous == (problem.b_major == "n")
    assert len({row.tobytes() for row in a}) == 48
    assert len({column.tobytes() for column in b.T}) == 80
