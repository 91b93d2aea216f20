"""Matrix products of 4- and 6-bit types, which TMA pads when it loads them, against exact sums."""

import ml_dtypes
import numpy as np
import pytest
from narrow_mmas import FIRST, MIXES, M, N, kernel, random_numbers

import mlir_smem
from mlir_smem.layout.tcgen05 import blocked
from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("a, b", MIXES)
def test_product_of_padded_types(a, b):
    (a_numbers, a_array), (b_numbers, b_array) = random_numbers(a, M, 1), random_numbers(b, N, 2)
    compiled = mlir_smem.compile(kernel(a, b), arch="sm_100a", emit="nvvm")
    inputs = {"A": a_array, "B": b_array.T}
    d = run_on_cpu(compiled, "product", inputs, ["D"], (1,))["D"]
    expected = a_numbers[:, FIRST : FIRST + 128] @ b_numbers[:, FIRST : FIRST + 128].T
    assert (d == expected).all()


@pytest.mark.parametrize("a, b", MIXES[::3])
def test_scaled_product_of_padded_types(a, b):
    (a_numbers, a_array), (b_numbers, b_array) = random_numbers(a, M, 3), random_numbers(b, N, 4)
    random = np.random.default_rng(5)
    sa, sb = (2.0 ** random.integers(-2, 3, (rows, 4)) for rows in (M, N))
    factors = {
        name: blocked(scales.astype(ml_dtypes.float8_e8m0fnu))
        for name, scales in (("SA", sa), ("SB", sb))
    }
    compiled = mlir_smem.compile(kernel(a, b, scaled=True), arch="sm_100a", emit="nvvm")
    inputs = {"A": a_array, "B": b_array.T, **factors}
    d = run_on_cpu(compiled, "product", inputs, ["D"], (1,))["D"]
    left, right = (
        numbers[:, FIRST : FIRST + 128] * np.repeat(scales, 32, axis=1)
        for numbers, scales in ((a_numbers, sa), (b_numbers, sb))
    )
    assert (d == left @ right.T).all()
