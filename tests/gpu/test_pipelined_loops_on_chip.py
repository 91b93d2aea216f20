"""Plain loops with stages and producers on the chip: no iteration, fewer than stages, more."""

import numpy as np
import pytest
from plain_loops import (
    attention_operands,
    blocks,
    causal_attention,
    gather_blocks,
    operands,
    persistent,
    product,
    product_of_blocks,
    squared_operand,
)

from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("options", [{}, {"copies": "tma"}, {"specialize": True}])
@pytest.mark.parametrize("stages", [0, 2, 3, 5])
def test_products_of_all_lengths(stages, options):
    kernel = product(stages, **options)
    for k in (8, 32, 64, 72, 160, 512):
        a, b, c, expected = operands(130, 72, k)
        inputs = {"A": a, "B": b, "C": c}
        compiled = kernel.compile(*inputs.values())
        assert (run_on_gpu(compiled, None, inputs, ["C"])["C"] == expected).all()


@pytest.mark.parametrize("begin, end", [(4, 4), (0, 1), (1, 6), (2, 11)])
def test_gathered_blocks(begin, end):
    a, b, c, _ = operands(64, 64, 128)
    numbers, taken = blocks(begin, end)
    inputs = {"A": a, "B": b, "P": numbers, "C": c}
    expected = product_of_blocks(a, b, taken)
    compiled = gather_blocks(4).compile(*inputs.values())
    assert np.array_equal(run_on_gpu(compiled, None, inputs, ["C"], grid=(1,))["C"], expected)


@pytest.mark.parametrize("steps", [-1, 0, 1, 2, 3, 9])
def test_a_product_beside_the_next_operand(steps):
    a, b, c, _ = operands(130, 72, 288)
    k = 32 * max(steps, 0)
    inputs = {"A": a, "B": b, "P": np.full(1, steps, np.int32), "C": c}
    compiled = squared_operand.compile(*inputs.values())
    expected = a[:, :k].astype(np.float32) ** 2 @ b[:k].astype(np.float32)
    assert np.array_equal(run_on_gpu(compiled, None, inputs, ["C"])["C"], expected)


@pytest.mark.parametrize("t, u", [(128, 32), (160, 40), (300, 100), (640, 640)])
def test_two_consumers_of_a_chain_of_products(t, u):
    *arguments, o, expected = attention_operands(t, u)
    inputs = dict(zip(["Q", "K", "V", "S", "Out"], [*arguments, o], strict=True))
    compiled = causal_attention.compile(*inputs.values())
    assert np.array_equal(run_on_gpu(compiled, None, inputs, ["Out"])["Out"], expected)


@pytest.mark.parametrize("ctas", [1, 5, 24])
def test_a_persistent_kernel(ctas):
    a, b, c, expected = operands(256, 192, 160)
    inputs = {"A": a, "B": b, "C": c}
    compiled = persistent.compile(*inputs.values())
    measured = run_on_gpu(compiled, None, inputs, ["C"], grid=(ctas,))["C"]
    assert np.array_equal(measured, expected)
