"""Tables of configurations that were tuned ahead: reading, precedence, and files that are none."""

import json
import time

import pytest

from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.call import tuned_table
from mlir_smem.kernels.gemm.call.tuned_table import (
    MEANING,
    TableError,
    gemm_key,
    read_table,
    table_name,
    write_table,
)
from mlir_smem.kernels.gemm.call.tuning_cache import Task, tuned_config, write_tuned
from mlir_smem.runtime.tuning.halving import SearchResult

GPU = "NVIDIA H200"
GEMM = Problem(), 512, 256, 128
FOUND = Config(group=8)


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(tuned_table, "FOLDER", tmp_path)
    return tmp_path / table_name(GPU)


def test_there_need_be_no_table():
    assert tuned_config(GPU, *GEMM) is None


def test_the_table_is_read(file):
    write_table(file, GPU, {gemm_key(*GEMM): FOUND, gemm_key(Problem(), 8, 8, 8): Config()})
    assert tuned_config(GPU, *GEMM) == FOUND
    assert tuned_config(GPU, Problem(), 512, 256, 136) is None
    assert tuned_config("NVIDIA H100", *GEMM) is None
    assert read_table(file, GPU) == {
        gemm_key(*GEMM): FOUND,
        gemm_key(Problem(), 8, 8, 8): Config(),
    }


def test_the_result_of_tune_precedes_the_table(file):
    write_table(file, GPU, {gemm_key(*GEMM): FOUND})
    config = Config(stages=3)
    write_tuned(Task(GPU, *GEMM, (config,)), SearchResult(config, {config: 1.0}, {}))
    assert tuned_config(GPU, *GEMM) == config


def test_the_table_can_be_switched_off(file, monkeypatch):
    write_table(file, GPU, {gemm_key(*GEMM): FOUND})
    monkeypatch.setenv("MLIR_SMEM_TUNED", "off")
    assert tuned_config(GPU, *GEMM) is None


def test_a_field_that_an_older_table_lacks_has_its_default(file):
    write_table(file, GPU, {gemm_key(*GEMM): FOUND})
    data = json.loads(file.read_text())
    del data["configs"][0]["store_buffers"]
    file.write_text(json.dumps(data))
    assert tuned_config(GPU, *GEMM) == FOUND


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: {},
        lambda data: [],
        lambda data: None,
        lambda data: data | {"meaning": MEANING + 1},
        lambda data: data | {"gpu": "NVIDIA H100"},
        lambda data: data | {"gemms": []},
        lambda data: data | {"configs": {}},
        lambda data: data | {"configs": []},
        lambda data: data | {"configs": [1]},
        lambda data: data | {"gemms": {gemm_key(*GEMM): "0"}},
        lambda data: data | {"configs": [data["configs"][0] | {"color": 1}]},
        lambda data: data | {"configs": [data["configs"][0] | {"group": "8"}]},
        lambda data: data | {"configs": [data["configs"][0] | {"group": True}]},
        lambda data: data | {"configs": [data["configs"][0] | {"tile": [128, 256]}]},
    ],
    ids=map(str, range(14)),
)
def test_a_file_that_is_no_table(file, damage):
    write_table(file, GPU, {gemm_key(*GEMM): FOUND})
    file.write_text(json.dumps(damage(json.loads(file.read_text()))))
    assert tuned_config(GPU, *GEMM) is None
    with pytest.raises(TableError, match=f"^{file} is no table of {GPU}: "):
        read_table(file, GPU)


def test_a_file_that_is_cut_off(file):
    write_table(file, GPU, {gemm_key(*GEMM): FOUND})
    file.write_text(file.read_text()[:-20])
    assert tuned_config(GPU, *GEMM) is None


def test_a_configuration_that_does_not_fit_is_not_used(file):
    write_table(file, GPU, {gemm_key(*GEMM): Config(stages=9)})
    assert tuned_config(GPU, *GEMM) is None


def test_a_thousand_entries_are_read_in_milliseconds(file):
    table = {gemm_key(Problem(), 8 * i, 8, 8): Config(group=1 + i % 40) for i in range(1, 1001)}
    write_table(file, GPU, table)
    start = time.perf_counter()
    assert tuned_config(GPU, Problem(), 8000, 8, 8) == Config(group=1)
    first = time.perf_counter() - start
    start = time.perf_counter()
    assert tuned_config(GPU, Problem(), 16, 8, 8) == Config(group=3)
    # On two busy processors it took 0.3 to 1.2 ms, and 0.1 ms: the limits are far above the noise.
    assert first < 0.05 and time.perf_counter() - start < 0.01
