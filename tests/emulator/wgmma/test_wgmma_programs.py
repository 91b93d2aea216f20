"""Every form of wgmma on the emulator, against exact sums."""

import pytest
from mma_cases import MIXES, Case, forms, majors, modified

import mlir_smem
from mlir_smem.runtime import run_on_cpu

#: N, M, and the swizzles of A and B.
SIZES = (
    (8, 64, "none", "128B"),
    (64, 64, "128B", "64B"),
    (40, 64, "32B", "none"),
    (264, 64, "64B", "32B"),
)

#: Of each mix, dense from shared memory: one of each swizzle on both sides, N of one instruction and of
#: several, each modifier. A in each place, dense and sparse: each major, and scale-d.
FORMS = [
    case
    for mix in MIXES
    for form in forms(mix)
    for case in (
        *(Case(*mix, *sizes, **form) for sizes in SIZES[: 1 if any(form.values()) else None]),
        *(Case(*mix, **major, **form) for major in majors(mix, form["registers"])[1:]),
        *(modified(mix) if not any(form.values()) else modified(mix, **form)[:1]),
        *modified(mix, **form)[-2:],
    )
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", dict.fromkeys(FORMS), ids=str)
def test_a_product_is_right(case):
    check(case)


def test_instructions_of_which_the_first_alone_needs_lbo():
    check(Case("bf16", "bf16", "f32", n=320, b_major="mn"))


def check(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    case.check(run_on_cpu(compiled, "product", inputs, ["D"], (1,))["D"], inputs)
