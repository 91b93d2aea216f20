"""The sweep with stand-ins for the GPU's contenders: shapes, the record, and going on after a stop."""

import json
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from math import log

import pytest
from sweep import compile_all, compile_kernel, sweep
from sweep_record import CUBLAS, Record
from sweep_shapes import HELD_OUT, LEAST, MOST, families, random_shapes, shapes

from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.runtime import is_cached

SETUP = {"type": "bf16", "layout": "NN", "seed": 20}
CONFIGS = [Config(), Config(group=8), Config(stages=3)]
TODO = [(64, 64, 64), (128, 64, 64), (256, 64, 64)]


class Fake:
    """A contender whose GEMM takes a given time."""

    gemms = 1

    def __init__(self, name, seconds):
        self.name, self._seconds = name, seconds

    def batch(self, units):
        return units * self._seconds, units * self._seconds


def contenders(shape, configs):
    """cuBLAS takes 1 ms for each 64 rows; the second configuration half; the third does not run."""
    unit = shape[0] / 64 * 1e-3
    by_name = {CUBLAS: Fake(CUBLAS, unit)}
    first, second, third = configs
    return by_name | {first: Fake("a", 2 * unit), second: Fake("b", unit / 2)}, {third: "too large"}


def run(record, over=lambda: False):
    return list(sweep(record, TODO, lambda shape: CONFIGS, contenders, 3, over))


def test_random_shapes_are_uniform_in_the_logarithm():
    drawn = random_shapes(2000, seed=1)
    assert len(set(drawn)) == 2000
    assert not HELD_OUT & set(drawn)
    extents = [extent for shape in drawn for extent in shape]
    assert all(LEAST <= extent <= MOST and extent % 8 == 0 for extent in extents)
    middle = (log(LEAST) + log(MOST)) / 2
    assert 0.45 < sum(log(extent) < middle for extent in extents) / len(extents) < 0.55
    assert random_shapes(2000, seed=1) == drawn != random_shapes(2000, seed=2)


def test_the_sweep_has_random_shapes_and_families_in_a_random_order():
    every = shapes(400, seed=20)
    assert len(every) == len(set(every)) >= 400 + len(families()) - 5
    assert set(families()) | set(random_shapes(400, 20)) == set(every)
    assert not HELD_OUT & set(every)
    assert len({shape in families() for shape in every[:40]}) == 2


def test_a_row_has_times_and_ratios_of_each_configuration(tmp_path):
    run(Record(tmp_path / "r.json", SETUP))
    stored = json.loads((tmp_path / "r.json").read_text())
    assert stored["setup"] == SETUP
    assert [config["group"] for config in stored["configs"]] == [16, 8, 16]
    assert {"date", "device", "versions", "command"} <= set(stored)
    row = stored["rows"][1]
    assert row["shape"] == [128, 64, 64]
    assert row["cublas"] == pytest.approx(2e-3)
    assert row["seconds"] == pytest.approx({"0": 4e-3, "1": 1e-3})
    assert row["ratio"] == {"0": 0.5, "1": 2.0}
    assert row["dropped"] == {"2": "too large"}
    assert {"date", "command"} <= set(row)


def test_a_run_goes_on_where_the_last_one_stopped(tmp_path):
    file, calls = tmp_path / "r.json", count()
    assert run(Record(file, SETUP), over=lambda: next(calls) >= 2) == TODO[:2]
    assert [row["shape"][0] for row in json.loads(file.read_text())["rows"]] == [64, 128]
    assert run(Record(file, SETUP)) == TODO[2:]
    assert [row["shape"][0] for row in json.loads(file.read_text())["rows"]] == [64, 128, 256]
    assert run(Record(file, SETUP)) == []


def test_a_run_that_is_cut_off_keeps_its_rows(tmp_path):
    def cut(shape, configs):
        if shape == TODO[1]:
            raise KeyboardInterrupt
        return contenders(shape, configs)

    file = tmp_path / "r.json"
    with pytest.raises(KeyboardInterrupt):
        list(sweep(Record(file, SETUP), TODO, lambda shape: CONFIGS, cut, 3, lambda: False))
    assert Record(file, SETUP).measured_shapes == {TODO[0]}


def test_a_shape_that_cublas_does_not_multiply_is_measured_once(tmp_path):
    def none(shape, configs):
        return {}, {CUBLAS: "RuntimeError: rows of 8"}

    record = Record(tmp_path / "r.json", SETUP)
    list(sweep(record, TODO[:1], lambda shape: CONFIGS, none, 3, lambda: False))
    (row,) = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert (row["shape"], row["error"]) == ([64, 64, 64], "RuntimeError: rows of 8")
    assert run(Record(tmp_path / "r.json", SETUP)) == TODO[1:]


def test_a_record_of_another_setup_is_refused(tmp_path):
    run(Record(tmp_path / "r.json", SETUP))
    with pytest.raises(ValueError, match=r"is of setup .*'seed': 20.*, not .*'seed': 21.*new file"):
        Record(tmp_path / "r.json", SETUP | {"seed": 21})


def test_kernels_are_compiled_once_into_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    small = Config((64, 8, 16), 2, consumers=1, store_columns=8)
    kernels = [(Problem(), small), (Problem(), small), (Problem(), Config(stages=9))]
    with ThreadPoolExecutor(1) as pool:
        failed = compile_all(compile_kernel, kernels, pool, lambda: 60.0)
    assert is_cached(text(Problem(), small))
    assert set(failed) == {kernels[2]}
    assert failed[kernels[2]].startswith("ConfigError: ")


def test_kernels_that_are_late_are_left_out():
    class Never:
        """An executor that never begins."""

        def __init__(self):
            self.futures = []

        def submit(self, function, kernel):
            self.futures.append(Future())
            return self.futures[-1]

    never = Never()
    reason = "it was not compiled in time"
    assert compile_all(str, [1, 2], never, lambda: -1.0) == {1: reason, 2: reason}
    assert all(future.cancelled() for future in never.futures)
