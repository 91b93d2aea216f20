"""Every type of wgmma on the chip: every swizzle of both operands, every N, every modifier.

Integers must be exact, floats within the derived bound of `type_cases.Case.exact`; and every byte must
be the emulator's.

    pytest tests/gpu/test_types.py -n 14 --record FILE
"""

import numpy as np
import pytest
from type_cases import MIXES, Case, legal_n, modified

import mlir_smem
from mlir_smem.runtime import run_on_cpu, run_on_gpu

SWIZZLES = ("none", "32B", "64B", "128B")

CASES = [
    *(Case(*mix, a_swizzle=a, b_swizzle=b) for mix in MIXES for a in SWIZZLES for b in SWIZZLES),
    *(Case(*mix, n=n) for mix in MIXES for n in (*legal_n(mix[2]), 40, 264, 320)),
    *(case for mix in MIXES for case in modified(mix)),
]


@pytest.mark.parametrize("case", dict.fromkeys(CASES), ids=str)
def test_a_product_is_right(case, record_property):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text)
    measured = run_on_gpu(compiled, "product", inputs, ["D"], (1,))["D"]
    record_property("part_of_bound", round(case.check(measured, inputs), 4))
    lowered = mlir_smem.compile(case.text, emit="nvvm")
    emulated = run_on_cpu(lowered, "product", inputs, ["D"], (1,))["D"]
    assert (emulated.view(np.uint8) == measured.view(np.uint8)).all()
