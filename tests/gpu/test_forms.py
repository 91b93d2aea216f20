"""Every major-ness and swizzle of A and of B, on the chip, against float64."""

import pytest
from cases import K, all_cases
from reference import assert_product, operand

import mlir_smem
from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_a_product_in_each_form_is_right(case, record_property):
    a = operand(case.m, K, case.element, case.a_major == "K", seed=1)
    b = operand(K, case.n, case.element, case.b_major == "N", seed=2)
    compiled = mlir_smem.compile(case.text)
    d = run_on_gpu(compiled, "product", {"A": a, "B": b}, ["D"], grid=(1,))["D"]
    record_property("part_of_bound", round(assert_product(d, a, b), 4))
    assert compiled.report is not None
    if case.m * case.n // 128 < 256:
        # A warpgroup's accumulator of 128 x 256 fills all registers of its threads, and spills.
        assert compiled.report.spill_bytes == 0
        assert compiled.report.warnings == ()
