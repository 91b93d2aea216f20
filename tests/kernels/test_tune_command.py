"""`python -m mlir_smem.kernels.gemm tune`: what it measures, prints and refuses."""

import os
import threading

import pytest

from mlir_smem.kernels.gemm import Config, TuningError
from mlir_smem.kernels.gemm import __main__ as command
from mlir_smem.kernels.gemm.tuning import tuner, workers
from mlir_smem.kernels.gemm.tuning.tuner import Tuned
from mlir_smem.runtime import LaunchError

DEFAULT, OTHER = Config(), Config(group=8)


@pytest.fixture
def tuning_calls(monkeypatch, tmp_path):
    """The calls of `tune_shape`: a square shape has an earlier result, and one of K = 8 none."""
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    calls = []

    def tune_shape(shape, remote, progress, budget):
        calls.append((str(shape), remote, budget))
        if shape.k == 8:
            raise TuningError({DEFAULT: "a bad day"})
        if shape.m == shape.n:
            return Tuned(DEFAULT, None)
        return Tuned(OTHER, 1.5)

    monkeypatch.setattr(tuner, "tune_shape", tune_shape)
    return calls


def test_it_tunes_each_shape_once(tuning_calls, capsys, tmp_path):
    file = tmp_path / "shapes"
    file.write_text("64x64x64\n128x64x32:f8E4M3FN,f8E4M3FN,bf16\n")
    assert (
        command.main(["tune", "128x64x64", "64x64x64", "--from", str(file), "--budget", "2.5"]) == 0
    )
    assert capsys.readouterr().out.splitlines() == [
        f"128x64x64:bf16,bf16,bf16,NN: 1.500 of the default's speed: {OTHER}",
        f"64x64x64:bf16,bf16,bf16,NN: found before: {DEFAULT}",
        f"128x64x32:f8E4M3FN,f8E4M3FN,bf16,TN: 1.500 of the default's speed: {OTHER}",
    ]
    assert [call[1:] for call in tuning_calls] == [(None, 2.5)] * 3


def test_a_shape_that_fails_does_not_stop_the_others(tuning_calls, capsys):
    assert command.main(["tune", "64x32x8", "64x32x64"]) == 1
    output, error = capsys.readouterr()
    assert output.startswith("64x32x64:bf16,bf16,bf16,NN: 1.500 of the default's speed")
    assert "64x32x8:bf16,bf16,bf16,NN: no configuration could be measured" in error
    assert "a bad day" in error


def error_of(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        command.main(arguments)
    assert exit_.value.code == 1
    return capsys.readouterr().err


def test_there_is_no_gpu(tuning_calls, capsys, monkeypatch):
    def tune_shape(*_, **__):
        raise LaunchError("no GPU can be used: none")

    monkeypatch.setattr(tuner, "tune_shape", tune_shape)
    assert error_of(capsys, "tune", "64x64x64").endswith("error: no GPU can be used: none\n")


@pytest.mark.parametrize("budget", ["0", "-1", "inf", "nan", "soon"])
def test_a_budget_that_is_none(tuning_calls, capsys, budget):
    error = error_of(capsys, "tune", "64x64x64", f"--budget={budget}")
    assert f"{budget!r} is no number of seconds; expected more than 0" in error


def test_the_cache_is_off(tuning_calls, capsys, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", "")
    error = error_of(capsys, "tune", "64x64x64")
    assert error.endswith("the cache is off (MLIR_SMEM_CACHE), so results would be lost\n")


def test_no_shapes(tuning_calls, capsys):
    assert "no shapes; expected MxNxK" in error_of(capsys, "tune")


def test_workers_of_dask_measure(cluster, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))

    def measure(problem, m, n, k, configs, number):
        return [2.0 - (config == OTHER) for config in configs]

    monkeypatch.setattr(workers, "measure_on_worker", measure)
    monkeypatch.setattr(tuner, "gpu_name", lambda: "a GPU")
    monkeypatch.setattr(tuner, "candidates", lambda *gemm, batch: [DEFAULT, OTHER])
    monkeypatch.setattr(tuner, "choose", lambda *gemm, batch: DEFAULT)
    address = cluster.scheduler_address
    assert command.main(["tune", "512x512x512", "--executor", address]) == 0
    assert command.main(["tune", "512x512x512", "--executor", address]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"512x512x512:bf16,bf16,bf16,NN: 2.000 of the default's speed: {OTHER}",
        f"512x512x512:bf16,bf16,bf16,NN: found before: {OTHER}",
    ]


def test_a_gpu_measures_all_rounds_of_a_shape(cluster, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))

    def measure(problem, m, n, k, configs, number):
        (tmp_path / f"{k}-{os.getpid()}").touch()
        return [2.0 - (config == OTHER) for config in configs]

    monkeypatch.setattr(workers, "measure_on_worker", measure)
    monkeypatch.setattr(tuner, "gpu_name", lambda: "a GPU")
    monkeypatch.setattr(tuner, "candidates", lambda *gemm, batch: [DEFAULT, OTHER])
    monkeypatch.setattr(tuner, "choose", lambda *gemm, batch: DEFAULT)
    shapes = [f"512x512x{k}" for k in (64, 128, 192, 256)]
    assert command.main(["tune", *shapes, "--executor", cluster.scheduler_address]) == 0
    measured = sorted(path.name.split("-")[0] for path in tmp_path.glob("*-*") if path.is_file())
    assert measured == ["128", "192", "256", "64"]


def test_each_gpu_of_a_cluster_has_a_shape(cluster, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    meeting = threading.Barrier(2, timeout=30)

    def tune_shape(shape, remote, progress, budget):
        meeting.wait()  # until another thread is here
        return Tuned(DEFAULT, 1.0)

    monkeypatch.setattr(tuner, "tune_shape", tune_shape)
    shapes = [f"512x512x{k}" for k in (64, 128, 192, 256)]
    assert command.main(["tune", *shapes, "--executor", cluster.scheduler_address]) == 0
    printed = [line.split(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert printed == shapes
