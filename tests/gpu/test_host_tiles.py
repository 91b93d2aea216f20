"""Tiles in a host's kernel on the chip: its own memory and stores, its epilogue on vectors of registers.

pytest tests/gpu/test_host_tiles.py --record FILE
"""

import numpy as np
import pytest
from host_kernels import FRAGMENTS, STORES, VectorProduct, stores_exact, stores_inputs

import mlir_smem
from mlir_smem.runtime import run_on_gpu


def test_a_host_stores_and_reads_registers():
    inputs = stores_inputs()
    compiled = mlir_smem.compile(STORES)
    assert compiled.report is not None
    assert (compiled.report.spill_bytes, compiled.report.warnings) == (0, ())
    measured = run_on_gpu(compiled, "kernel", inputs, ["O"], (1,))["O"]
    assert np.array_equal(measured, stores_exact(inputs))


@pytest.mark.parametrize("m", [64, 128])
@pytest.mark.parametrize("a", FRAGMENTS)
def test_vectors_are_multiplied(a, m):
    case = VectorProduct(m, a)
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text)
    measured = run_on_gpu(compiled, "kernel", inputs, ["O"], (1,))["O"]
    assert np.array_equal(measured, case.exact(inputs))
