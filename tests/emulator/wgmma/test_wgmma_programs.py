"""Compiled programs with every form of wgmma, on the emulator, against exact sums."""

import pytest
from mma_cases import MIXES, Case, forms, majors, modifier_cases

import mlir_smem
from mlir_smem.runtime import run_on_cpu

#: N, M, and the swizzles of A and B.
SIZES = (
    (8, 64, "none", "128B"),
    (64, 64, "128B", "64B"),
    (40, 64, "32B", "none"),
    (264, 64, "64B", "32B"),
)

#: For each mix of types, dense A in shared memory: each swizzle of A and of B, N of one instruction and
#: of several, each modifier. For A in each place, dense and sparse: each majorness, and scale-d.
FORMS = [
    case
    for mix in MIXES
    for form in forms(mix)
    for case in (
        *(Case(*mix, *sizes, **form) for sizes in SIZES[: 1 if any(form.values()) else None]),
        *(Case(*mix, **major, **form) for major in majors(mix, form["registers"])[1:]),
        *(modifier_cases(mix) if not any(form.values()) else modifier_cases(mix, **form)[:1]),
        *modifier_cases(mix, **form)[-2:],
    )
]


@pytest.mark.parametrize("case", dict.fromkeys(FORMS), ids=str)
def test_product_is_exact(case):
    check(case)


def test_only_the_first_instruction_needs_lbo():
    check(Case("bf16", "bf16", "f32", n=320, b_major="mn"))


def check(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    case.check(run_on_cpu(compiled, "product", inputs, ["D"], (1,))["D"], inputs)
