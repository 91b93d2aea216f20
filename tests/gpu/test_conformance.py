"""Every form of wgmma on the chip: types, majors, swizzles, N, A in registers, sparsity, modifiers.

Integers must be exact, floats within the derived bound of `mma_cases.Case.exact`. Every byte
must equal the emulator's.

    pytest tests/gpu/test_conformance.py -n 14 --record FILE
"""

import numpy as np
import pytest
from mma_cases import every_case

import mlir_smem
from mlir_smem.runtime import run_on_cpu, run_on_gpu


@pytest.mark.parametrize("case", every_case(), ids=str)
def test_a_product_is_right(case, record_property):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text)
    measured = run_on_gpu(compiled, "product", inputs, ["D"], (1,))["D"]
    record_property("part_of_bound", round(case.check(measured, inputs), 4))
    assert compiled.report is not None
    if case.n <= 256 and case.m == 64:
        assert compiled.report.spill_bytes == 0
    lowered = mlir_smem.compile(case.text, emit="nvvm")
    emulated = run_on_cpu(lowered, "product", inputs, ["D"], (1,))["D"]
    assert (emulated.view(np.uint8) == measured.view(np.uint8)).all()
