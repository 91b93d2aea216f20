"""`python -m mlir_smem.kernels.gemm warm`: compiling ahead, in processes and by Dask's workers."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest

from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm import __main__ as command
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.kernels.gemm.tuning import warming
from mlir_smem.kernels.gemm.tuning.shapes import parse_shape
from mlir_smem.kernels.gemm.tuning.warming import kernels_of, warm
from mlir_smem.runtime import is_cached

#: Kernels that compile fast, by N of the shape.
SMALL = {n: Config((64, n, 16), 2, consumers=1, store_columns=8) for n in (8, 16, 24, 32)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(warming, "choose", lambda problem, m, n, k: SMALL[n])
    return tmp_path / "kept"


def run(capsys, *arguments):
    code = command.main(arguments)
    return code, *capsys.readouterr()


def error_of(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        command.main(arguments)
    assert exit_.value.code == 1
    output, error = capsys.readouterr()
    assert output == ""
    return error


def test_shapes_share_kernels_and_cached_ones_are_not_compiled(capsys, tmp_path):
    file = tmp_path / "shapes"
    file.write_text("64x8x64  # the same kernel\n64x16x64\n")
    code, output, _ = run(capsys, "warm", "128x8x64", "--from", str(file), "--jobs", "1")
    assert code == 0
    assert output.splitlines()[-1] == "3 shapes, 2 kernels: 2 compiled, 0 cached, 0 failed"
    assert is_cached(text(Problem(), SMALL[8])) and is_cached(text(Problem(), SMALL[16]))
    code, output, _ = run(capsys, "warm", "64x8x8", "--jobs", "1")
    assert code == 0
    assert output.splitlines() == [
        f"cached   bf16,bf16,bf16 KN {SMALL[8]}",
        "1 shapes, 1 kernels: 0 compiled, 1 cached, 0 failed",
    ]


def test_a_failure_has_its_reason_and_the_exit_code_is_1(capsys, monkeypatch):
    monkeypatch.setattr(command, "local_processes", lambda jobs: ThreadPoolExecutor(1))
    monkeypatch.setattr(warming, "compile_to_cache", lambda text, arch: f"no code for {arch}")
    code, output, error = run(capsys, "warm", "64x8x64", "--arch", "sm_100a")
    assert code == 1
    assert output == "1 shapes, 1 kernels: 0 compiled, 0 cached, 1 failed\n"
    assert error.endswith(f"failed   bf16,bf16,bf16 KN {SMALL[8]}: no code for sm_100a\n")


def test_the_kernels_that_tune_measures():
    shape = parse_shape("512x8x512")
    assert len(kernels_of([shape], with_candidates=False)) == 1
    assert len(kernels_of([shape], with_candidates=True)) > 10


def test_a_worker_that_is_lost_is_a_failure():
    class Lost(Executor):
        def submit(self, function, /, *arguments):
            future = Future()
            future.set_exception(ConnectionError("lost"))
            return future

    kernel = Problem(), SMALL[8]
    assert warm([kernel], "sm_90a", Lost()).failed == {kernel: "ConnectionError: lost"}


def test_it_runs_as_a_program_without_a_gpu():
    asked = [sys.executable, "-m", "mlir_smem.kernels.gemm", "warm", "--help"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert "Needs no GPU" in shown


# Bad input.


def test_no_shapes(capsys):
    assert error_of(capsys, "warm") == (
        "python -m mlir_smem.kernels.gemm: error: no shapes; expected MxNxK arguments or --from FILE\n"
    )


def test_a_shape_that_is_none(capsys):
    assert "error: '8x8' is no shape; expected MxNxK" in error_of(capsys, "warm", "8x8")


def test_a_file_that_is_not_there(capsys, tmp_path):
    error = error_of(capsys, "warm", "--from", str(tmp_path / "none"))
    assert error.count("\n") == 1
    assert "No such file" in error


def test_a_file_that_is_no_text(capsys, tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    error = error_of(capsys, "warm", "--from", str(tmp_path / "bytes"))
    assert error.endswith("bytes is no text\n")


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_a_number_of_processes_that_is_none(capsys, jobs):
    error = error_of(capsys, "warm", "8x8x8", f"--jobs={jobs}")
    assert f"{jobs!r} is no number of processes; expected 1 or more" in error


def test_an_unknown_architecture(capsys):
    error = error_of(capsys, "warm", "8x8x8", "--arch", "sm_80")
    assert "'sm_80'" in error and "sm_90a" in error


def test_the_cache_is_off(capsys, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", "off")
    error = error_of(capsys, "warm", "8x8x8")
    assert error.endswith("the cache is off (MLIR_SMEM_CACHE), so compiled kernels would be lost\n")


def test_dask_is_not_installed(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    error = error_of(capsys, "warm", "8x8x8", "--executor", "tcp://127.0.0.1:1")
    assert error.endswith("--executor needs Dask: pip install distributed\n")


# Dask.


def test_workers_compile_and_the_work_of_one_that_dies_is_done(cluster, capsys, monkeypatch):
    from distributed import Client

    code, output, _ = run(capsys, "warm", "64x8x8", "--executor", cluster.scheduler_address)
    assert (code, output.splitlines()[-1].endswith("1 compiled, 0 cached, 0 failed")) == (0, True)

    kernels = [(Problem(), SMALL[n]) for n in (16, 24, 32)]
    with Client(cluster) as client:
        first = next(iter(client.run(os.getpid).values()))

        def kill_one(done, total):
            os.kill(first, signal.SIGKILL)  # both workers have work
            yield from done

        result = warm(kernels, "sm_90a", client.get_executor(), kill_one)
    assert (sorted(map(str, result.compiled)), result.failed) == (sorted(map(str, kernels)), {})
    assert all(is_cached(text(*kernel)) for kernel in kernels)


@pytest.mark.parametrize("dies", [False, True])
def test_a_search_ends_with_the_same_result_if_a_worker_dies(cluster, monkeypatch, tmp_path, dies):
    from distributed import Client

    from mlir_smem.kernels.gemm.call.tuning_cache import Task
    from mlir_smem.kernels.gemm.tuning import workers
    from mlir_smem.kernels.gemm.tuning.tuner import search_of

    log, process = tmp_path / "log", os.getpid()

    def measure(problem, m, n, k, configs, number):
        assert os.getpid() != process
        with log.open("a") as file:
            file.write(f"{os.getpid()}\n")
        if dies and len(log.read_text().splitlines()) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return [1.0 / config.tile[1] for config in configs]

    monkeypatch.setattr(workers, "measure_on_worker", measure)
    gemm = Problem(), 512, 512, 512
    with Client(cluster) as client:
        stopwatch = workers.RemoteStopwatch(client.get_executor(resources={"GPU": 1}), *gemm)
        result = search_of(Task("a GPU", *gemm, tuple(SMALL.values())), False, None).fastest(
            stopwatch
        )
    assert (result.config, result.dropped) == (SMALL[32], {})
    assert len(log.read_text().splitlines()) == 3 + 15 + dies
