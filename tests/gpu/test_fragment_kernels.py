"""Computations with fragments on the chip, compared with exact results.

pytest tests/gpu/test_fragment_kernels.py -n 14 --record FILE
"""

import attention_example
import numpy as np
import pytest
from fragment_cases import CHAINS, EPILOGUES

import mlir_smem
from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("case", CHAINS, ids=str)
def test_a_chain_of_products_is_exact(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text)
    assert compiled.report is not None
    # Larger accumulators fill the registers of a thread.
    assert compiled.report.spill_bytes == 0 or case.m * case.n > 64 * 256
    measured = run_on_gpu(compiled, "chain", inputs, ["E"], (1,))["E"]
    assert np.array_equal(measured, case.exact(inputs))


@pytest.mark.parametrize("case", EPILOGUES, ids=str)
def test_an_epilogue_is_exact(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text)
    measured = run_on_gpu(compiled, "epilogue", inputs, ["D"], (1,))["D"]
    assert np.array_equal(measured, case.exact(inputs))


@pytest.mark.parametrize("t", [64, 192, 1024])
def test_attention(t):
    inputs = attention_example.inputs(t)
    compiled = mlir_smem.compile(attention_example.TEXT)
    assert compiled.report is not None
    assert compiled.report.warnings == ()
    attention_example.check(run_on_gpu(compiled, "attention", inputs, ["O", "L"]), inputs)
