"""The tuning cache: results of searches on disk, by everything that they depend on."""

import json
import os
from dataclasses import replace

import pytest

from mlir_smem.kernels.gemm import Config, Problem, candidates
from mlir_smem.kernels.gemm.call.tuning_cache import (
    SearchResult,
    Task,
    read_tuned,
    tuned_config,
    write_tuned,
)

CONFIGS = (Config(), Config(group=8), Config(stages=5))
TASK = Task("NVIDIA H200", Problem(), 4096, 2048, 1024, CONFIGS)
RESULT = SearchResult(CONFIGS[1], {CONFIGS[0]: 2.5e-5, CONFIGS[1]: 2e-5}, {CONFIGS[2]: "too large"})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def entry(folder):
    (file,) = folder.iterdir()
    return file


def test_a_written_result_is_read():
    assert read_tuned(TASK) is None
    write_tuned(TASK, RESULT)
    assert read_tuned(TASK) == CONFIGS[1]


def test_the_file_is_readable_json(folder):
    write_tuned(TASK, RESULT)
    stored = json.loads(entry(folder).read_text())
    assert stored["task"]["gpu"] == "NVIDIA H200"
    assert (stored["task"]["m"], stored["task"]["n"], stored["task"]["k"]) == (4096, 2048, 1024)
    assert stored["task"]["problem"]["a"] == "bf16"
    assert stored["config"]["group"] == 8
    assert [time for _, time in stored["seconds"]] == [2.5e-5, 2e-5]
    assert [reason for _, reason in stored["dropped"]] == ["too large"]


@pytest.mark.parametrize(
    "other",
    [
        {"gpu": "NVIDIA H100"},
        {"problem": replace(Problem(), c="f32")},
        {"problem": replace(Problem(), a_major="m")},
        {"m": 4095},
        {"n": 4096},
        {"k": 1025},
        {"from_caller": True},
    ],
    ids=str,
)
def test_another_task_has_no_result(other):
    write_tuned(TASK, RESULT)
    assert read_tuned(replace(TASK, **other)) is None


def test_other_candidates_have_the_result():
    write_tuned(TASK, RESULT)
    assert read_tuned(replace(TASK, configs=CONFIGS[:1])) == CONFIGS[1]


def test_given_configurations_have_their_own_result():
    task = replace(TASK, from_caller=True)
    write_tuned(task, RESULT)
    assert read_tuned(task) == CONFIGS[1]
    assert read_tuned(TASK) is None
    assert read_tuned(replace(task, configs=CONFIGS[:2])) is None
    assert tuned_config(TASK.gpu, TASK.problem, TASK.m, TASK.n, TASK.k) == CONFIGS[1]


def test_another_version_has_no_result(monkeypatch):
    write_tuned(TASK, RESULT)
    monkeypatch.setattr("mlir_smem.kernels.gemm.call.tuning_cache.MEANING", 0)
    assert read_tuned(TASK) is None


def test_a_file_that_others_may_write_is_not_trusted(folder):
    write_tuned(TASK, RESULT)
    entry(folder).chmod(0o666)
    assert read_tuned(TASK) is None


def test_a_later_result_replaces_it():
    write_tuned(TASK, RESULT)
    write_tuned(TASK, SearchResult(CONFIGS[0], {CONFIGS[0]: 1e-5}, {}))
    assert read_tuned(TASK) == CONFIGS[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-10],
        lambda data: b"\xff" + data[1:],
        lambda data: b"[]",
        lambda data: b"null",
        lambda data: b"{}",
        lambda data: data.replace(b'"group": 8', b'"group": "8"'),
        lambda data: data.replace(b'"m": 4096', b'"m": 4097'),
        lambda data: data.replace(b'"config"', b'"slowest"'),
        lambda data: json.dumps({**json.loads(data), "config": 1}).encode(),
    ],
    ids=[
        "empty",
        "cut",
        "no text",
        "a list",
        "null",
        "nothing",
        "changed",
        "other",
        "key",
        "number",
    ],
)
def test_a_damaged_file_is_ignored(folder, damage):
    write_tuned(TASK, RESULT)
    file = entry(folder)
    whole = file.read_bytes()
    assert damage(whole) != whole
    file.write_bytes(damage(whole))
    assert read_tuned(TASK) is None
    write_tuned(TASK, RESULT)
    assert file.read_bytes() == whole


def test_nothing_is_written_if_the_cache_is_off(monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_CACHE", "off")
    monkeypatch.chdir(tmp_path)
    write_tuned(TASK, RESULT)
    assert read_tuned(TASK) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "file"))
    with pytest.warns(
        UserWarning, match=r"the configuration that was found is not kept: .*MLIR_SMEM"
    ):
        write_tuned(TASK, RESULT)
    assert read_tuned(TASK) is None


def test_others_see_the_whole_file_or_none(folder, monkeypatch):
    def refuse(source, target):
        assert os.path.getsize(source) > 100
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(UserWarning, match="disk full"):
        write_tuned(TASK, RESULT)
    assert list(folder.iterdir()) == []


def test_the_tuned_configuration_of_a_gemm():
    product = Problem(), 512, 256, 128
    assert tuned_config("NVIDIA H200", *product) is None
    configs = tuple(candidates(*product))
    write_tuned(
        Task("NVIDIA H200", *product, configs), SearchResult(configs[2], {configs[2]: 1e-6}, {})
    )
    assert tuned_config("NVIDIA H200", *product) == configs[2]


def test_results_can_be_switched_off(monkeypatch):
    write_tuned(TASK, RESULT)
    gemm = TASK.problem, TASK.m, TASK.n, TASK.k
    assert tuned_config(TASK.gpu, *gemm) == CONFIGS[1]
    monkeypatch.setenv("MLIR_SMEM_TUNED", "off")
    assert tuned_config(TASK.gpu, *gemm) is None
