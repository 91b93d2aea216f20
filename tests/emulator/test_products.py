"""Every type of wgmma on the emulator, against exact sums."""

import pytest
from type_cases import MIXES, Case, modified

import mlir_smem
from mlir_smem.runtime import run_on_cpu

#: One of each swizzle on both sides, N of one instruction and of two.
FORMS = [
    case
    for mix in MIXES
    for case in (
        Case(*mix, n=8, a_swizzle="none", b_swizzle="128B"),
        Case(*mix, n=40, a_swizzle="32B", b_swizzle="none"),
        Case(*mix, n=64, a_swizzle="128B", b_swizzle="64B"),
        Case(*mix, n=264, a_swizzle="64B", b_swizzle="32B"),
        *modified(mix),
    )
]


@pytest.mark.parametrize("case", FORMS, ids=str)
def test_a_product_is_right(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    case.check(run_on_cpu(compiled, "product", inputs, ["D"], (1,))["D"], inputs)
