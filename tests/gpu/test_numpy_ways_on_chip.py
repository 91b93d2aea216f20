"""Numbers, broadcast slices and reductions of all elements: the chip computes what the emulator does."""

import numpy as np
import pytest
from numpy_kernels import matrix, numbers, outer, totals

from mlir_smem.runtime import run_on_cpu, run_on_gpu

ROW = np.arange(64, dtype=np.float32)

CASES = {
    "numbers": (
        numbers,
        {
            "A": matrix(192),
            "P": np.array([1, -5, 3], np.int32),
            "D": np.zeros((1, 40), np.float32),
            "C": np.zeros((64, 64), np.float32),
        },
        ["D", "C"],
    ),
    "outer": (
        outer,
        {
            "R": ROW - 30,
            "V": 2 * ROW,
            "W": ROW - 20,
            "X": matrix(),
            "C": np.zeros((64, 64), np.float32),
            "D": np.zeros((64, 64), np.float32),
        },
        ["C", "D"],
    ),
    "totals": (
        totals,
        {
            "A": matrix(128),
            "B": matrix(64, 16) + 1,
            "D": np.zeros((1, 16), np.float32),
            "E": np.zeros((1, 4), np.int32),
        },
        ["B", "D", "E"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_chip_computes_what_the_emulator_does(name):
    kernel, inputs, outputs = CASES[name]
    types = [inputs[parameter] for parameter in kernel.parameters]
    emulated = run_on_cpu(kernel.compile(*types, emit="nvvm"), None, inputs, outputs, grid=(1,))
    measured = run_on_gpu(kernel.compile(*types), None, inputs, outputs, grid=(1,))
    for output in outputs:
        np.testing.assert_allclose(np.asarray(measured[output]), emulated[output], rtol=2e-6)
