"""`tune` of attention, by a stand-in for the driver and for its clock."""

import json

import pytest
from stand_in import OnGpu

from mlir_smem.kernels.attention import (
    Config,
    Problem,
    ProblemError,
    TuningError,
    attention,
    candidates,
    default_config,
    tune,
)
from mlir_smem.kernels.attention.call import launch, launches
from mlir_smem.kernels.attention.call.tuned import read_searched
from mlir_smem.kernels.attention.generator.problem import DIMS
from mlir_smem.runtime import streams
from mlir_smem.runtime.arguments import DTYPES, row_major_strides
from mlir_smem.runtime.scratch import Scratch


def array(shape, pointer, element="bf16"):
    return OnGpu(shape, DTYPES[element], row_major_strides(shape), pointer)


SHAPE = (2, 700, 4, 64)
Q, K, V, OUT = (array(SHAPE, 0x100000 * i) for i in range(1, 5))

#: 3 consumers are the default.
CONFIGS = [Config(2, 64, 2, 1), Config(1, 64, 2, 1), Config(2, 80, 2, 2)]


class Clock:
    """Runs a launch once; its seconds are those of the number of threads."""

    def __init__(self):
        self.launches = Clock.gpu.launches

    def seconds(self, launch, count):
        launch.launch(7)
        return Clock.times.get(self.launches[-1].blockDimX, 2.0)

    def close(self):
        pass


@pytest.fixture(autouse=True)
def clock(gpu, monkeypatch, compiled_kernels):
    # Each kernel is compiled once for all tests; what one has found is not known to the next.
    for file in compiled_kernels.glob("*.tuned.json"):
        file.unlink()
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    monkeypatch.setattr(launches, "_SCRATCH", Scratch())
    launches._kernel.cache_clear()
    launch.forget_calls()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(compiled_kernels))
    monkeypatch.setattr("mlir_smem.runtime.tuning.timing._Clock", Clock)
    monkeypatch.setattr("mlir_smem.runtime.tuning.timing._WARM_UP", 0)
    # In this process: others would import what the test has replaced.
    monkeypatch.setattr("mlir_smem.kernels.search.is_cached", lambda text: True)
    monkeypatch.setattr(Clock, "gpu", gpu, raising=False)
    monkeypatch.setattr(Clock, "times", {2 * 128: 1.0, 3 * 128: 1.5}, raising=False)
    return compiled_kernels


def threads(gpu, **options):
    """The threads of a CTA of a call."""
    attention(Q, K, V, out=OUT, **options)
    return gpu.launches[-1].blockDimX


def test_what_is_found_is_used(gpu):
    assert threads(gpu) == 4 * 128
    assert tune(Q, K, V, out=OUT, configs=CONFIGS, progress=False) == CONFIGS[1]
    assert threads(gpu) == 2 * 128
    # Another mask and other extents have their own.
    assert threads(gpu, causal=True) == 4 * 128
    half = [array((1, *SHAPE[1:]), 0x100000 * i) for i in range(1, 5)]
    attention(*half[:3], out=half[3])
    assert gpu.launches[-1].blockDimX == 4 * 128


def test_the_second_search_measures_nothing(gpu):
    tune(Q, K, V, out=OUT, configs=CONFIGS, progress=False)
    known = len(gpu.launches)
    assert tune(Q, K, V, out=OUT, configs=CONFIGS, progress=False) == CONFIGS[1]
    assert len(gpu.launches) == known
    assert tune(Q, K, V, out=OUT, configs=CONFIGS[::2], progress=False) == CONFIGS[0]


def test_results_can_be_switched_off(gpu, monkeypatch):
    tune(Q, K, V, out=OUT, configs=CONFIGS, progress=False)
    monkeypatch.setenv("MLIR_SMEM_TUNED", "off")
    assert threads(gpu) == 4 * 128


@pytest.mark.parametrize(
    "config", [None, [], {"keys": 17}, {"consumers": "2"}, {"colour": 1}, {"keys": 256}]
)
def test_a_damaged_result_is_not_used(gpu, clock, config):
    tune(Q, K, V, out=OUT, configs=CONFIGS, progress=False)
    launch.forget_calls()
    (file,) = clock.glob("*.tuned.json")
    entry = json.loads(file.read_text())
    whole = {**entry["config"], **config} if isinstance(config, dict) else config
    file.write_text(json.dumps(entry | {"config": whole}))
    assert threads(gpu) == 4 * 128
    task = launch.describe_call(
        launch.AttentionArrays(Q, K, V, out=OUT), launch.AttentionOptions()
    ).call.task
    assert read_searched(task, entry["given"]) is None


def test_what_does_not_fit_is_dropped(gpu):
    wide = Config(3, 256, 2, 1)
    assert tune(Q, K, V, out=OUT, configs=[wide, CONFIGS[0]], progress=False) == CONFIGS[0]
    with pytest.raises(TuningError, match="no configuration could be measured"):
        Clock.times = dict.fromkeys((128 * n for n in range(2, 5)), None)
        tune(Q, K, V, out=OUT, configs=[wide], causal=True, progress=False)


def test_parts_of_the_keys(gpu):
    """One warpgroup splits the keys, and two launches are measured together."""
    q, out = (array((1, 1, 4, 64), 0x1000 * i) for i in (1, 2))
    k, v = (array((1, 4000, 4, 64), 0x100000 * i) for i in (1, 2))
    configs = [Config(1, 64, 3, 1)]
    Clock.times = {}
    tune(q, k, v, out=out, configs=configs, progress=False)
    assert [one.gridDimY for one in gpu.launches[:2]] == [1, 4]


def test_a_new_result_and_logarithms(gpu, monkeypatch):
    allocations = []

    def maker(like, shape, element):
        def make(like):
            allocations.append((shape, element))
            return 0x10000 * len(allocations), array(shape, 0x10000 * len(allocations), element)

        return make

    monkeypatch.setattr(launch, "maker", maker)
    tune(Q, K, V, return_lse=True, configs=CONFIGS[:1], progress=False)
    assert set(allocations) == {(SHAPE, "bf16"), ((2, 4, 700), "f32")}


def test_arguments_that_attention_refuses():
    with pytest.raises(ProblemError, match="expected equal batches and dimensions"):
        tune(Q, array((2, 700, 4, 128), 0x1000), array((2, 700, 4, 128), 0x1000))
    with pytest.raises(TypeError, match="casual"):
        tune(Q, K, V, casual=True)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("element", ["bf16", "f8E4M3FN"])
def test_candidates_fit_and_many_queries_have_the_default(dim, element):
    for masked in (False, True):
        problem = Problem(element, dim, right=masked)
        for queries in (8, 1000, 1 << 20):
            configs = candidates(problem, queries)
            assert configs and len(set(configs)) == len(configs)
            for config in configs:
                config.check(problem)
            assert queries == 8 or default_config(problem, queries) in configs
