"""The tensor core's arithmetic, bit for bit as on an H200 (recorded by `tests/data/tensor_core.py`)."""

from pathlib import Path

import numpy as np
import pytest
from edge_cases import CASES, DTYPES

from mlir_smem.emulator.tensor_core.arithmetic import multiply_add
from mlir_smem.emulator.tensor_core.multiplicands import BF16, F16

MEASURED = np.load(Path(__file__).parents[2] / "data" / "tensor_core_h200.npz")
MULTIPLICANDS = {"f16": F16, "bf16": BF16}
INSTRUCTION_K = 16


def summed(a, b, multiplicand):
    """A * B, one instruction for each K block."""
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    with np.errstate(all="ignore"):
        for k in range(0, a.shape[1], INSTRUCTION_K):
            k_block = slice(k, k + INSTRUCTION_K)
            c = multiply_add(a[:, k_block], b[k_block], c, (multiplicand, multiplicand))
    return c


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("element", DTYPES)
def test_results_are_those_of_the_chip_bit_for_bit(element, case):
    with np.errstate(invalid="ignore"):
        a, b = (
            MEASURED[f"{element}/{case}/{name}"].view(DTYPES[element]).astype(np.float64)
            for name in "AB"
        )
    found = summed(a, b.T, MULTIPLICANDS[element])
    assert (found.view(np.uint32) == MEASURED[f"{element}/{case}/D"]).all()


def test_terms_are_truncated_25_bits_below_the_largest():
    a, b = np.zeros((1, 16)), np.ones((16, 1))
    a[0, 0], a[0, 1:5] = 1.0, 2.0**-25
    exact = np.float32(1 + 4 * 2.0**-25)
    assert summed(a, b, F16)[0, 0] == exact
    a[0, 1:5] = 2.0**-26
    assert summed(a, b, F16)[0, 0] == 1.0
    assert np.float32(1 + 16 * 2.0**-26) != 1.0


def test_sums_are_rounded_toward_zero():
    a, b = np.zeros((1, 16)), np.ones((16, 1))
    a[0, :2] = 1.0, 2.0**-24 + 2.0**-25
    assert summed(a, b, F16)[0, 0] == 1.0
    assert summed(-a, b, F16)[0, 0] == -1.0
