"""Products of types of 4 and 6 bits, which TMA pads on their way to shared memory: exact sums."""

import pytest
from narrow_products import FIRST, MIXES, M, N, drawn, kernel

import mlir_smem
from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("a, b", MIXES)
def test_a_product_of_what_tma_pads(a, b):
    (a_numbers, a_held), (b_numbers, b_held) = drawn(a, M, 1), drawn(b, N, 2)
    compiled = mlir_smem.compile(kernel(a, b), arch="sm_100a", emit="nvvm")
    given = {"A": a_held, "B": b_held.T}
    found = run_on_cpu(compiled, "product", given, ["D"], (1,))["D"]
    expected = a_numbers[:, FIRST : FIRST + 128] @ b_numbers[:, FIRST : FIRST + 128].T
    assert (found == expected).all()
