"""Launches without a given configuration: chosen for shapes, batches and epilogues of every kind."""

import json

import pytest
from stand_in import OnGpu

import mlir_smem.language as sl
from mlir_smem.kernels.gemm import Problem, candidates, choose, matmul
from mlir_smem.kernels.gemm.call import launches, tuning_cache
from mlir_smem.kernels.gemm.call.matmul import forget_calls
from mlir_smem.kernels.gemm.generator.fusion import EpilogueOperand, trace_epilogue
from mlir_smem.runtime.arguments import DTYPES
from mlir_smem.runtime.tuning.halving import SearchResult


@pytest.fixture(autouse=True)
def fresh(gpu, monkeypatch, tmp_path):
    launches._kernel.cache_clear()
    forget_calls()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))


def array(*shape, element="bf16", by_columns=False):
    *batch, rows, columns = shape
    strides = [1, rows] if by_columns else [columns, 1]
    step = rows * columns
    for extent in reversed(batch):
        strides.insert(0, step)
        step *= extent
    return OnGpu(shape, DTYPES[element], tuple(strides), 0x10000)


@pytest.mark.parametrize(
    "a, b, c",
    [
        ((1, 4096), (4096, 4096), (1, 4096)),
        ((128, 16384), (16384, 128), (128, 128)),
        ((8, 64, 64), (8, 64, 64), (8, 64, 64)),
        ((2, 1, 64, 64), (3, 64, 64), (2, 3, 64, 64)),
        ((6, 8, 64), (64, 64), (6, 8, 64)),
    ],
)
def test_shapes_and_batches(gpu, a, b, c):
    matmul(array(*a), array(*b), array(*c))
    assert len(gpu.launches) == 1


@pytest.mark.parametrize("m", [16, 512])
def test_an_epilogue(gpu, m):
    a, b, c = array(m, 4096), array(4096, 4096), array(m, 4096)
    bias = OnGpu((4096,), DTYPES["f32"], (1,), 0x90000)
    matmul(a, b, c, epilogue=lambda x, bias: x + bias, operands={"bias": bias})
    assert len(gpu.launches) == 1


@pytest.mark.parametrize("m", [16, 512])
def test_a_gated_product(gpu, m):
    b = array(4096, 2048, by_columns=True)
    matmul(
        array(m, 4096),
        b,
        array(m, 1024),
        epilogue=lambda x, y: x * y,
        gated="interleaved",
    )
    assert len(gpu.launches) == 1


def test_two_results(gpu):
    c = array(512, 512)
    matmul(array(512, 512), array(512, 512), (c, c), epilogue=lambda x: (x, sl.maximum(x, 0.0)))
    assert len(gpu.launches) == 1


@pytest.mark.parametrize("products", [1, 2])
def test_a_problem_is_described_by_its_ir(products):
    function = (lambda x: x * 2.0) if products == 1 else (lambda x, y: x * y)
    fusion = trace_epilogue(function, [], "f32", products)
    problem = Problem(fusion=fusion, gated=products == 2, batch=("ab",))
    described = json.loads(json.dumps(problem.described()))
    assert described["fusion"] == [fusion.ir, []] and described["batch"] == ["ab"]
    assert set(described) == set(vars(problem))
    assert choose(problem, 512, 512, 512, batch=(3,)).exchanged is False or products == 1


def test_a_matrix_of_the_epilogue_is_loaded_by_tma():
    fusion = trace_epilogue(
        lambda x, c: x + c, [EpilogueOperand("c", "bf16", "mn", by_tma=True)], "f32"
    )
    problem = Problem(fusion=fusion)
    for extents in ((8192, 8192, 8192), (512, 4096, 4096)):
        config = choose(problem, *extents)
        assert config.sources(problem) == fusion.matrices
        assert config.stages >= 3
    assert choose(problem, 8, 4096, 4096).exchanged


def test_a_tuned_configuration_is_found_for_a_batch(monkeypatch):
    task = tuning_cache.Task(
        "a GPU",
        Problem(batch=("ab",)),
        64,
        64,
        64,
        tuple(candidates(Problem(batch=("ab",)), 64, 64, 64, batch=(8,))),
        batch=(8,),
    )
    config = task.configs[1]
    tuning_cache.write_tuned(task, SearchResult(config, {config: 1e-6}, {}))
    assert tuning_cache.tuned_config("a GPU", Problem(batch=("ab",)), 64, 64, 64, (8,)) == config
    assert tuning_cache.tuned_config("a GPU", Problem(batch=("ab",)), 64, 64, 64, (4,)) is None
