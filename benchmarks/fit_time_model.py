"""Fits the model of time to sweeps, and tells how good its choices are.

    python benchmarks/fit_time_model.py SWEEP [SWEEP ...] [--record FILE] [--folds 3] [--seed 0]

A third of the shapes is held out in turn: the model is fitted to the others, and chooses for each shape
that is held out, among the configurations that the sweep has measured and `rank` returns. A choice is
good if it takes at most 5 % longer than the fastest configuration that was measured, of any kind. Then
the model is fitted to all shapes, and its constants are printed as they stand in
`kernels/gemm/generator/time_model.py`.

The fit minimises the relative errors of the times, those of configurations that are slower than the best
of their shape with less weight.
"""

import argparse
import json
from dataclasses import asdict, fields, replace
from math import exp, log
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from record import circumstances
from scipy.optimize import least_squares
from sweep_shapes import Shape

from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.candidates import rank
from mlir_smem.kernels.gemm.generator.time_model import H200, TimeModel
from mlir_smem.kernels.gemm.generator.work import Work, work_of

#: Constants that are not fitted.
GIVEN = ("multiprocessors", "clusters", "sharing")

#: A good choice takes at most this of the fastest time.
GOOD = 1.05

#: The power of best over own time that weights an error.
_WEIGHT = 1.5

#: The largest factor by which the fit changes a constant, up or down.
_FACTOR = 3

#: Relative errors beyond this count linearly.
_OUTLIER = 0.1


class Sample(NamedTuple):
    """A shape of a sweep.

    Attributes:
        shape: M, N and K.
        cublas: its seconds.
        works: the work of each measured configuration, except splits of K that `rank` never returns.
        seconds: of each.
        chosen_from: whether `rank` returns it.
        best: the least seconds of all measured configurations.
    """

    shape: Shape
    cublas: float
    works: list[Work]
    seconds: list[float]
    chosen_from: list[bool]
    best: float


def samples(sweep: dict[str, Any], problem: Problem) -> list[Sample]:
    """Return the shapes of a sweep's record."""
    configs = [Config(**_tuples(config)) for config in sweep["configs"]]
    shape_samples = []
    for row in sweep["rows"]:
        if "error" in row:
            continue
        shape = tuple(row["shape"])
        ranked = {config for config, _ in rank(problem, *shape)}
        all_times = [(configs[int(number)], t) for number, t in row["seconds"].items()]
        measured = [
            (config, t)
            for config, t in all_times
            if config in ranked or config.split_k == config.cluster_k == 1
        ]
        works = [work_of(problem, *shape, config, H200.multiprocessors) for config, _ in measured]
        seconds = [t for _, t in measured]
        chosen_from = [config in ranked for config, _ in measured]
        best = min(t for _, t in all_times)
        shape_samples.append(Sample(shape, row["cublas"], works, seconds, chosen_from, best))
    return shape_samples


def _tuples(config: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in config.items()}


def fit(model: TimeModel, fit_samples: list[Sample]) -> TimeModel:
    """Fit the constants of a model to samples, beginning with the model's."""
    names = [field.name for field in fields(model) if field.name not in GIVEN]
    work = Work(*np.array([w for sample in fit_samples for w in sample.works], float).T)
    logs = np.log([t * 1e6 for sample in fit_samples for t in sample.seconds])
    best = np.concatenate([[min(sample.seconds)] * len(sample.seconds) for sample in fit_samples])
    weights = (best / np.concatenate([sample.seconds for sample in fit_samples])) ** _WEIGHT

    def with_constants(x: Any) -> TimeModel:
        constants = dict(zip(names, map(float, np.exp(x)), strict=True))
        return replace(model, **constants | {"hidden": min(1.0, constants["hidden"])})

    def errors(x: Any) -> Any:
        return weights * (np.log(with_constants(x).times(work).whole) - logs)

    start = [log(getattr(model, name)) for name in names]
    solution = least_squares(
        errors,
        start,
        bounds=([x - log(_FACTOR) for x in start], [x + log(_FACTOR) for x in start]),
        loss="soft_l1",
        f_scale=_OUTLIER,
    )
    return with_constants(solution.x)


class Quality(NamedTuple):
    """The quality of a model's choices.

    Attributes:
        shapes: the number of shapes.
        good: the fraction of shapes whose choice is good.
        good_of_three: the fraction of shapes of which one of the first three of the ranking is good.
        loss: the geometric mean of the chosen time over the best.
        to_cublas: the geometric mean of cuBLAS's time over the chosen one.
        best_to_cublas: the same of the best.
    """

    shapes: int
    good: float
    good_of_three: float
    loss: float
    to_cublas: float
    best_to_cublas: float

    def __str__(self) -> str:
        return (
            f"{self.shapes} shapes: {self.good:.3f} good, {self.good_of_three:.3f} of the first three; "
            f"{self.loss:.3f} of the best time; {self.to_cublas:.3f} of cuBLAS's speed, the best "
            f"{self.best_to_cublas:.3f}"
        )


class Choice(NamedTuple):
    """The choice for a shape: its time, the best of the first three, the best, and cuBLAS's."""

    shape: Shape
    seconds: float
    of_three: float
    best: float
    cublas: float


def choices(model: TimeModel, shape_samples: list[Sample]) -> list[Choice]:
    """Return the model's choices, for shapes with a measured configuration that `rank` returns."""
    model_choices = []
    for shape, cublas, works, seconds, chosen_from, best in shape_samples:
        among = [i for i, is_ranked in enumerate(chosen_from) if is_ranked]
        if not among:
            continue
        whole = model.times(Work(*np.array([works[i] for i in among], float).T)).whole
        ordered = [seconds[among[i]] for i in np.argsort(whole, kind="stable")]
        model_choices.append(Choice(shape, ordered[0], min(ordered[:3]), best, cublas))
    return model_choices


def quality(model_choices: list[Choice]) -> Quality:
    """Return the quality of choices."""
    return Quality(
        len(model_choices),
        fmean(choice.seconds <= GOOD * choice.best for choice in model_choices),
        fmean(choice.of_three <= GOOD * choice.best for choice in model_choices),
        exp(fmean(log(choice.seconds / choice.best) for choice in model_choices)),
        exp(fmean(log(choice.cublas / choice.seconds) for choice in model_choices)),
        exp(fmean(log(choice.cublas / choice.best) for choice in model_choices)),
    )


def cross_validate(
    model: TimeModel, all_samples: list[Sample], folds: int, seed: int
) -> list[Choice]:
    """Return choices for all shapes, each by a model that was fitted without the shape."""
    all_shapes = sorted({sample.shape for sample in all_samples})
    fold_of = {
        shape: i % folds for i, shape in enumerate(Random(seed).sample(all_shapes, len(all_shapes)))
    }
    model_choices = []
    for fold in range(folds):
        train_samples = [sample for sample in all_samples if fold_of[sample.shape] != fold]
        test_samples = [sample for sample in all_samples if fold_of[sample.shape] == fold]
        model_choices += choices(fit(model, train_samples), test_samples)
    return model_choices


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("sweeps", nargs="+", type=Path, help="records of benchmarks/sweep.py")
    parser.add_argument("--record", type=Path, help="where to write the figures")
    parser.add_argument("--folds", type=int, default=3, help="parts of which one is held out (3)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the parts (0)")
    return parser.parse_args()


def main() -> None:
    options = _options()
    all_samples: list[Sample] = []
    for file in options.sweeps:
        sweep = json.loads(file.read_text())
        setup = sweep["setup"]
        if (setup["type"], setup["layout"]) != ("bf16", "NN"):
            raise SystemExit(f"{file} is of {setup['type']} {setup['layout']}; expected bf16 NN")
        all_samples += samples(sweep, Problem())
    model_choices = cross_validate(H200, all_samples, options.folds, options.seed)
    print("held out:", quality(model_choices))
    for choice in sorted(model_choices, key=lambda choice: choice.best / choice.seconds)[:10]:
        print(
            f"  {'x'.join(map(str, choice.shape))}: {1e6 * choice.seconds:.2f} us, the best "
            f"{1e6 * choice.best:.2f}, cuBLAS {1e6 * choice.cublas:.2f}"
        )
    model = fit(H200, all_samples)
    fit_quality = quality(choices(model, all_samples))
    print("fitted to:", fit_quality)
    constants = {k: v for k, v in asdict(model).items() if k not in GIVEN}
    for name, constant in constants.items():
        print(f"    {name}={constant:.3g},")
    if options.record:
        record = circumstances() | {
            "sweeps": [file.name for file in options.sweeps],
            "folds": options.folds,
            "seed": options.seed,
            "held_out": quality(model_choices)._asdict(),
            "fitted_to": fit_quality._asdict(),
            "constants": constants,
        }
        options.record.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
