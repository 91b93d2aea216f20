"""`smem.reduce` on the emulator, against NumPy."""

import numpy as np
import pytest
from each import for_each
from reductions import EVERY, TALL, Reduction

import mlir_smem
from mlir_smem.runtime import run_on_cpu


def run(case: Reduction, inputs: dict[str, np.ndarray], arch: str = "sm_90a") -> np.ndarray:
    compiled = mlir_smem.compile(case.text, arch=arch, emit="nvvm")
    return run_on_cpu(compiled, "reduce", inputs, ["O"], (1,))["O"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_a_reduction(case):
    inputs = case.inputs()
    case.check(run(case, inputs), inputs)


@for_each("case", TALL)
def test_a_reduction_of_the_rows_of_tcgen05(case):
    inputs = case.inputs()
    case.check(run(case, inputs, "sm_100a"), inputs)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", ["maximumf", "maxnumf", "minimumf", "minnumf", "add"])
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_nan_and_infinities(element, op, axis):
    case = Reduction(element, op, axis, 16)
    inputs = case.inputs()
    a = inputs["A"][0]
    a[3, :], a[:, 3] = -np.inf, -np.inf
    a[5, 5] = a[6, 2] = np.nan
    a[9, 9] = np.inf
    a[20, :], a[:, 10] = np.nan, np.nan
    if op == "add":
        a[3, 9] = 0
    with np.errstate(invalid="ignore"):
        outputs = run(case, inputs)
        wanted = {
            "maximumf": np.maximum,
            "maxnumf": np.fmax,
            "minimumf": np.minimum,
            "minnumf": np.fmin,
            "add": np.add,
        }[op].reduce(a.astype(np.float64), axis=axis)
    for got in outputs[:, 0]:
        assert np.array_equal(np.isnan(got), np.isnan(wanted))
        settled = np.isinf(wanted) | (op != "add")
        assert np.array_equal(got[settled], wanted[settled].astype(got.dtype), equal_nan=True)
