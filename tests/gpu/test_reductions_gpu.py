"""`smem.reduce` on the chip: exact for integers, within a bound for floats, and as on the emulator."""

import numpy as np
import pytest
from reductions import EVERY

import mlir_smem
from mlir_smem.runtime import run_on_cpu, run_on_gpu


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_a_reduction(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text)
    measured = run_on_gpu(compiled, "reduce", inputs, ["O"], (1,))["O"]
    case.check(measured, inputs)
    emulated = run_on_cpu(compiled, "reduce", inputs, ["O"], (1,))["O"]
    assert np.array_equal(measured.view(np.uint8), emulated.view(np.uint8))
