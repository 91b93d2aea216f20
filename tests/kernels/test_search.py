"""A search: configurations that do not fit, compilation in any executor, and the budget."""

import pickle
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from threading import Timer

import pytest

from mlir_smem.kernels.gemm import Config, Problem, TuningError
from mlir_smem.kernels.gemm.call.tuning_cache import Task
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.kernels.gemm.tuning.tuner import search_of
from mlir_smem.kernels.gemm.tuning.workers import measure_on_worker
from mlir_smem.runtime import is_cached
from mlir_smem.runtime.tuning.compiling import (
    compile_to_cache,
    hidden_main_module,
    local_processes,
)
from mlir_smem.runtime.tuning.halving import FINAL_ROUNDS

#: Kernels that compile fast.
SMALL = [Config((64, n, 16), 2, consumers=1, store_columns=8) for n in (8, 16, 24)]


def task(*configs):
    return Task("a GPU", Problem(), 512, 512, 512, configs)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


class AtOnce(Executor):
    """An executor that runs a task inside `submit`."""

    def __init__(self):
        self.submissions = []

    def submit(self, function, /, *arguments, **options):
        self.submissions.append((function, arguments, options))
        future = Future()
        future.set_result(function(*arguments, **options))
        return future


def stages(configs):
    """Measure: more stages are slower."""
    for config in configs:
        yield float(config.stages)


def test_a_configuration_that_does_not_fit_is_dropped():
    search = search_of(task(Config(stages=9), Config(), Config(stages=1)), False, None)
    result = search.fastest(stages)
    assert result.config == Config()
    assert set(result.dropped) == {Config(stages=9), Config(stages=1)}
    assert result.dropped[Config(stages=1)] == "ConfigError: stages is 1; expected 2 or more"


def test_nothing_fits():
    search = search_of(task(Config(stages=1)), False, None)
    with pytest.raises(TuningError, match="ConfigError: stages is 1; expected 2 or more"):
        search.fastest(stages)


# Compiling.


@pytest.mark.parametrize(
    "executor",
    [
        AtOnce,
        lambda: ThreadPoolExecutor(2),
        lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    ],
    ids=["a fake", "threads", "processes"],
)
def test_kernels_are_compiled_in_any_executor(executor):
    with executor() as pool:
        search_of(task(*SMALL[:2]), False, None).compile(pool)
    assert [is_cached(text(Problem(), config)) for config in SMALL] == [True, True, False]


def test_tasks_can_be_pickled():
    executor = AtOnce()
    search_of(task(*SMALL[:1]), False, None).compile(executor)
    ((function, arguments, options),) = executor.submissions
    assert pickle.loads(pickle.dumps((function, arguments, options))) == (
        compile_to_cache,
        (text(Problem(), SMALL[0]),),
        {},
    )
    assert (
        pickle.loads(pickle.dumps((measure_on_worker, Problem(), 1, 2, 3, [Config()], 0)))[0]
        is measure_on_worker
    )


def test_cached_kernels_are_not_compiled_again():
    search_of(task(*SMALL[:1]), False, None).compile(AtOnce())
    executor = AtOnce()
    search_of(task(*SMALL[:2]), False, None).compile(executor)
    assert [arguments for _, arguments, _ in executor.submissions] == [(text(Problem(), SMALL[1]),)]


def test_nothing_is_compiled_without_a_cache(monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", "off")
    executor = AtOnce()
    search = search_of(task(*SMALL), False, None)
    search.compile(executor)
    assert executor.submissions == []
    assert search.fastest(stages).config == SMALL[0]


def test_a_failed_compilation_is_dropped_with_its_reason(monkeypatch):
    def fail_once(text_):
        return "CompileError: ptxas has a bad day" if text_ == text(Problem(), SMALL[0]) else None

    monkeypatch.setattr("mlir_smem.kernels.search.compile_to_cache", fail_once)
    search = search_of(task(*SMALL), False, None)
    search.compile(AtOnce())
    result = search.fastest(stages)
    assert result.dropped == {SMALL[0]: "CompileError: ptxas has a bad day"}
    assert result.config == SMALL[1]


def test_errors_are_returned_as_text():
    reason = compile_to_cache("gpu.module @kernels {}")
    assert reason.startswith("CompileError: ")


def test_the_processes_do_not_run_the_script_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from mlir_smem.runtime.tuning.compiling import compile_to_cache\n"
        "from mlir_smem.runtime.tuning.compiling import hidden_main_module, local_processes\n"
        "print('run')\n"
        "with local_processes() as pool, hidden_main_module():\n"
        "    future = pool.submit(compile_to_cache, 'no module')\n"
        "    reason = future.result()\n"
        "print(reason.split(':')[0], __name__)\n"
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["run", "MLIRError __main__"]


def test_the_main_module_is_restored():
    main = sys.modules["__main__"]
    with pytest.raises(ZeroDivisionError), hidden_main_module():
        assert sys.modules["__main__"] is not main
        raise ZeroDivisionError
    assert sys.modules["__main__"] is main


@pytest.mark.parametrize("processors, processes", [(1, 1), (2, 1), (4, 3), (64, 8), (None, 1)])
def test_one_processor_is_left_to_the_program(monkeypatch, processors, processes):
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    with local_processes() as pool:
        assert pool._max_workers == processes


# The budget.


class Clock:
    """A clock that tests advance."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Slow(Executor):
    """An executor that compiles a kernel when its future is waited for."""

    def __init__(self, clock):
        self.clock = clock
        self.futures = []

    def submit(self, function, /, *arguments):
        future = Future()
        self.futures.append(future)
        if len(self.futures) == 1:
            self.clock.now += 10
            future.set_result(None)
        return future


def test_kernels_after_the_budget_are_dropped():
    clock = Clock()
    search = search_of(task(*SMALL), False, 5.0, clock)
    executor = Slow(clock)
    search.compile(executor)
    result = search.fastest(stages)
    assert result.config == SMALL[0]
    late = "it was not compiled within the budget"
    assert result.dropped == {SMALL[1]: late, SMALL[2]: late}
    assert [future.cancelled() for future in executor.futures] == [False, True, True]


def test_the_default_is_waited_for():
    clock = Clock()
    search = search_of(task(*SMALL), False, 5.0, clock)

    class DefaultLast(Slow):
        """An executor that compiles the second kernel at once, the first after the budget."""

        def submit(self, function, /, *arguments):
            future = Future()
            self.futures.append(future)
            if len(self.futures) == 2:
                clock.now += 10
                future.set_result(None)
                Timer(0.05, self.futures[0].set_result, [None]).start()
            return future

    search.compile(DefaultLast(clock))
    assert set(search._dropped) == {SMALL[2]}
    assert search.fastest(stages).config == SMALL[0]


def test_one_kernel_is_waited_for(monkeypatch):
    search = search_of(task(*SMALL), False, -1.0)
    last = text(Problem(), SMALL[2])

    def compile_(text_):
        if text_ != last:
            return "no"
        while len(search._dropped) < 2:
            time.sleep(0.001)
        return None

    monkeypatch.setattr("mlir_smem.kernels.search.compile_to_cache", compile_)
    with ThreadPoolExecutor(3) as pool:
        search.compile(pool)
    result = search.fastest(stages)
    assert result.config == SMALL[2]
    assert result.dropped == dict.fromkeys(SMALL[:2], "no")


def test_the_final_comparison_follows_the_budget():
    clock, rounds = Clock(), []

    def measure(configs):
        rounds.append(len(configs))
        clock.now += 1
        yield from stages(configs)

    search_of(task(*SMALL), False, 1.5, clock).fastest(measure)
    assert rounds == [3, 3] + [3] * FINAL_ROUNDS


# The progress bar.


def test_progress_is_shown_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    search = search_of(task(*SMALL), True, None)
    search.compile(AtOnce())
    search.fastest(stages)
    output = capsys.readouterr().err
    assert "compiling" in output
    assert "measuring" in output


@pytest.mark.parametrize("terminal, progress", [(False, True), (True, False)])
def test_progress_is_not_shown(monkeypatch, capsys, terminal, progress):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    search = search_of(task(*SMALL), progress, None)
    search.compile(AtOnce())
    search.fastest(stages)
    output = capsys.readouterr().err
    assert "compiling" not in output
    assert "measuring" not in output
