"""The tensor core's arithmetic, bit for bit as on an H200 (recorded by `tests/data/tensor_core.py`)."""

from pathlib import Path

import numpy as np
import pytest
from edge_cases import CASES, DTYPES

from mlir_smem.emulator.tensor_core.arithmetic import multiply_add
from mlir_smem.emulator.tensor_core.multiplicands import BF16, F16
from mlir_smem.emulator.tensor_core.multiplicands import MULTIPLICANDS as OF_WGMMA

MEASURED = np.load(Path(__file__).parents[2] / "data" / "tensor_core_h200.npz")
MULTIPLICANDS = {"f16": F16, "bf16": BF16}
INSTRUCTION_K = 16


def multiply_by_blocks(a, b, multiplicand):
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
    product = multiply_by_blocks(a, b.T, MULTIPLICANDS[element])
    assert (product.view(np.uint32) == MEASURED[f"{element}/{case}/D"]).all()


def test_terms_are_truncated_25_bits_below_the_largest():
    a, b = np.zeros((1, 16)), np.ones((16, 1))
    a[0, 0], a[0, 1:5] = 1.0, 2.0**-25
    exact = np.float32(1 + 4 * 2.0**-25)
    assert multiply_by_blocks(a, b, F16)[0, 0] == exact
    a[0, 1:5] = 2.0**-26
    assert multiply_by_blocks(a, b, F16)[0, 0] == 1.0
    assert np.float32(1 + 16 * 2.0**-26) != 1.0


def test_sums_are_rounded_toward_zero():
    a, b = np.zeros((1, 16)), np.ones((16, 1))
    a[0, :2] = 1.0, 2.0**-24 + 2.0**-25
    assert multiply_by_blocks(a, b, F16)[0, 0] == 1.0
    assert multiply_by_blocks(-a, b, F16)[0, 0] == -1.0


TYPES = {name: type_ for name, type_ in OF_WGMMA.items() if type_.is_float}


@pytest.mark.parametrize("exponents", [(0, 0), (-10, 10), (-60, 60)], ids=str)
@pytest.mark.parametrize("accumulator", [np.float32, np.float16])
@pytest.mark.parametrize("name", TYPES)
def test_compiled_sums_are_those_of_columns_alone(name, accumulator, exponents):
    # A single column is summed by NumPy, in float64.
    rng, type_, (low, high) = np.random.default_rng(0), TYPES[name], exponents

    def numbers(*shape):
        values = np.ldexp(rng.normal(size=shape), rng.integers(low, high, shape, endpoint=True))
        values[rng.random(shape) < 0.2] = 0
        return values

    with np.errstate(all="ignore"):
        a, b = (
            np.nan_to_num(type_.values(numbers(*shape).astype(type_.dtype)), posinf=1, neginf=-1)
            for shape in ((16, type_.k), (type_.k, 24))
        )
        c = np.nan_to_num(numbers(16, 24).astype(accumulator), posinf=1, neginf=-1)
        each_row = np.tile(b[:, None], (1, 16, 1))
        whole, by_row = (multiply_add(a, right, c, (type_, type_)) for right in (b, each_row))
        columns = [
            multiply_add(a, b[:, n : n + 1], c[:, n : n + 1], (type_, type_)) for n in range(24)
        ]
    expected = np.concatenate(columns, axis=1)
    bits = np.dtype(f"u{expected.itemsize}")
    assert (whole.view(bits) == expected.view(bits)).all()
    assert (by_row.view(bits) == expected.view(bits)).all()


def test_special_values_among_compiled_sums():
    a, b, c = np.ones((8, 16)), np.ones((16, 8)), np.zeros((8, 8), np.float32)
    a[1, 0], b[0, 2], c[3, 3], a[4, 0], b[0, 5] = np.inf, np.nan, np.inf, 0, -np.inf
    with np.errstate(invalid="ignore"):
        sums = multiply_add(a, b, c, (F16, F16))
        exact = a @ b + c
    assert (sums.view(np.uint32)[np.isnan(exact)] == 0x7FFFFFFF).all()
    assert (sums == exact)[~np.isnan(exact)].all()
