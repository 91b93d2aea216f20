"""The fit of the model of time, to sweeps whose times another model has made."""

import json
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

pytest.importorskip("scipy")
import fit_time_model
from fit_time_model import choices, cross_validate, fit, quality, samples
from sweep_shapes import random_shapes

from mlir_smem.kernels.gemm import Problem
from mlir_smem.kernels.gemm.generator.candidates import rank
from mlir_smem.kernels.gemm.generator.time_model import H200
from mlir_smem.kernels.gemm.generator.work import work_of

#: A GPU that is not ours: slower tensor cores, a slower launch, and a slower L2.
OTHER = replace(H200, mma=1.6 * H200.mma, launch=2 * H200.launch, l2=0.6 * H200.l2)

SHAPES = random_shapes(24, seed=3)


def sweep(shapes, tried=8):
    """The record of a sweep over the first, the last and other configurations of `rank` on that GPU."""
    configs, rows = [], []
    for shape in shapes:
        ranked = [candidate.config for candidate in rank(Problem(), *shape)]
        seconds = {}
        for config in ranked[:: max(1, len(ranked) // tried)]:
            work = work_of(Problem(), *shape, config, OTHER.multiprocessors)
            seconds[str(len(configs))] = OTHER.predict([work])[0].seconds
            configs.append(asdict(config))
        rows.append({"shape": list(shape), "cublas": 1e-4, "seconds": seconds})
    rows.append({"shape": [8, 8, 8], "error": "out of memory"})
    setup = {"type": "bf16", "layout": "NN", "seed": 3}
    return {"setup": setup, "configs": configs, "rows": rows}


@pytest.fixture(scope="module")
def sweep_samples():
    return samples(sweep(SHAPES), Problem())


def test_a_sample_has_the_work_of_each_configuration(sweep_samples):
    assert [sample.shape for sample in sweep_samples] == SHAPES
    for sample in sweep_samples:
        assert len(sample.works) == len(sample.seconds) == len(sample.chosen_from)
        assert all(sample.chosen_from) and sample.best == min(sample.seconds)


def test_the_fit_finds_the_times_of_another_gpu(sweep_samples):
    model = fit(H200, sweep_samples)
    assert model.multiprocessors == H200.multiprocessors
    for sample in sweep_samples:
        times = [prediction.seconds for prediction in model.predict(sample.works)]
        assert times == pytest.approx(sample.seconds, rel=0.05)


def test_choices_of_a_fitted_model_are_better(sweep_samples):
    before, after = (
        quality(choices(H200, sweep_samples)),
        quality(choices(fit(H200, sweep_samples), sweep_samples)),
    )
    assert after.loss <= before.loss
    assert after.good == after.good_of_three == 1
    assert after.to_cublas == pytest.approx(after.best_to_cublas, rel=0.02)


def test_each_shape_is_held_out_once(sweep_samples):
    held_out = cross_validate(H200, sweep_samples, folds=2, seed=0)
    assert sorted(choice.shape for choice in held_out) == sorted(SHAPES)
    assert quality(held_out).loss < 1.05


def test_a_choice_that_was_not_measured_does_not_count(sweep_samples):
    none = sweep_samples[0]._replace(chosen_from=[False] * len(sweep_samples[0].works))
    assert choices(H200, [none]) == []


def run(*arguments):
    command = [sys.executable, fit_time_model.__file__, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_writes_a_record(tmp_path):
    file, record = tmp_path / "sweep.json", tmp_path / "record.json"
    file.write_text(json.dumps(sweep(SHAPES[:6])))
    done = run(file, "--folds", 2, "--record", record)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("held out: 6 shapes: ")
    stored = json.loads(record.read_text())
    assert stored["sweeps"] == ["sweep.json"]
    assert stored["held_out"]["shapes"] == 6
    assert f"    launch={stored['constants']['launch']:.3g},\n" in done.stdout


def test_other_types_are_refused(tmp_path):
    file = tmp_path / "sweep.json"
    record = sweep([])
    record["setup"]["type"] = "e4m3"
    file.write_text(json.dumps(record))
    done = run(file)
    assert done.returncode == 1
    assert done.stderr == f"{file} is of e4m3 NN; expected bf16 NN\n"
