"""Tuning on the chip: results are right, the search ends in time, and the second call is immediate."""

import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

from mlir_smem.kernels.gemm import Config, Problem, candidates, choose, prepare, tune
from mlir_smem.kernels.gemm.call.operands import check_operands
from mlir_smem.kernels.gemm.call.tuning_cache import tuned_config
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.kernels.gemm.tuning.random_operands import random_operands
from mlir_smem.runtime import Kernel, cached_compile, device_array, run_on_gpu
from mlir_smem.runtime.arguments import DTYPES
from mlir_smem.runtime.devices import gpu_name
from mlir_smem.runtime.tuning.timing import Stopwatch

M, N, K = 512, 384, 256


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))


@pytest.fixture
def arrays():
    gpu_name()
    return random_operands(Problem(), M, N, K)


def configs_to_try():
    gemm = Problem(), M, N, K
    return [choose(*gemm), *candidates(*gemm)]


@pytest.mark.parametrize(
    "problem",
    [
        Problem(),
        Problem(a_major="m", b_major="k", c="f32"),
        Problem("f32", "f32", "f32", b_major="k"),
        Problem("f8E4M3FN", "f8E5M2", "bf16", b_major="k"),
        Problem("i8", "i8", "i32", b_major="k"),
        Problem("ui8", "i8", "i32", b_major="k"),
    ],
    ids=str,
)
def test_random_operands_on_the_chip_fit_the_problem(problem):
    gpu_name()
    arrays = zip("ABC", random_operands(problem, M, N, K), strict=True)
    operands, _ = check_operands(*(device_array(name, array) for name, array in arrays))
    assert (operands.problem, operands.m, operands.n, operands.k) == (problem, M, N, K)


def test_a_small_gemm_is_tuned(arrays, record_property):
    start = time.perf_counter()
    config = tune(*arrays, progress=False)
    record_property("seconds, kernels compiled", round(time.perf_counter() - start, 2))
    assert config in configs_to_try()
    assert tuned_config(gpu_name(), Problem(), M, N, K) == config
    start = time.perf_counter()
    assert tune(*arrays) == config
    assert time.perf_counter() - start < 0.5


def test_a_search_of_compiled_kernels_takes_less_than_three_seconds(record_property):
    gpu_name()
    arrays = random_operands(Problem(), 4096, 4096, 4096)
    assert len(candidates(Problem(), 4096, 4096, 4096)) == 16
    # Another K: the same kernels, but no tuned configuration.
    tune(*random_operands(Problem(), 4096, 4096, 4032), progress=False)
    start = time.perf_counter()
    config = tune(*arrays, progress=False)
    seconds = time.perf_counter() - start
    record_property("seconds", round(seconds, 2))
    record_property("found", str(config))
    assert seconds < 3


#: Configurations of kernels that take A, B and C.
PLAIN = [c for c in candidates(Problem(), 4096, 4096, 4096) if not c.exchanged and c.split_k == 1]


@pytest.mark.parametrize("config", PLAIN, ids=str)
def test_every_candidate_is_right(config):
    m, n, k = 700, 520, 200
    random = np.random.default_rng(1)
    a, b = (random.integers(-3, 4, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    bf16 = DTYPES["bf16"]
    compiled = cached_compile(text(Problem(), config))
    inputs = {"A": a.astype(bf16), "B": b.astype(bf16)}
    grid = config.grid(m, n, k, Kernel(compiled).resident_blocks())
    measured = run_on_gpu(compiled, "gemm", inputs, ["C"], grid)["C"]
    # Sums of small integers are exact in f32.
    assert (measured == (a @ b).astype(bf16)).all()


def test_a_configuration_that_cannot_run_is_dropped(arrays):
    too_large = Config(stages=9)
    config = tune(*arrays, configs=[too_large, Config()], progress=False)
    assert config in (Config(), choose(Problem(), M, N, K))


def test_the_clock_distinguishes_a_long_gemm_from_a_short_one():
    gpu_name()
    short, long = (random_operands(Problem(), 1024, 1024, k) for k in (1024, 8192))
    with_k = {Config(): short, replace(Config(), group=8): long}
    stopwatch = Stopwatch(lambda config: prepare(*with_k[config], config))
    first, second = stopwatch(list(with_k))
    stopwatch.close()
    assert isinstance(first, float) and isinstance(second, float)
    assert 2 * first < second < 16 * first


def test_workers_measure_on_their_own_gpus(arrays):
    configs = candidates(Problem(), M, N, K)[:3]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        config = tune(*arrays, configs=configs, executor=pool, measure="remote", progress=False)
    assert config in [choose(Problem(), M, N, K), *configs]


def test_a_budget_is_kept(arrays):
    start = time.perf_counter()
    config = tune(*arrays, progress=False, budget=0.1)
    assert config in configs_to_try()
    # The search waits for compilations that have started.
    assert time.perf_counter() - start < 20
