"""ptxas takes every form of wgmma that is emitted, and refuses what the verifier refuses.

Illegal forms are made of the PTX of a legal kernel, so that nothing else is wrong with it. The verifier's
own words for each are in lit_tests/invalid/mma.mlir.
"""

import pytest
from product_cases import MIXES, Case, modified

import mlir_smem
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptxas import assemble, find_ptxas

try:
    find_ptxas()
except CompileError as error:
    pytest.skip(str(error), allow_module_level=True)

#: Each mix with the widest instruction, and with each modifier: `pytest tests/gpu` has the others.
FORMS = [
    case for mix in MIXES for case in (Case(*mix, n=256), *(m for m in modified(mix) if m.modifier))
]


@pytest.mark.parametrize("case", dict.fromkeys(FORMS), ids=str)
def test_a_legal_form_is_assembled_without_a_word(case):
    report = mlir_smem.compile(case.text).report
    assert report is not None
    assert report.warnings == ()


FLOATS = Case("bf16", "bf16", "f32", n=8)
HALVES = Case("f16", "f16", "f16", n=8)
BYTES = Case("f8E4M3FN", "f8E4M3FN", "f32", n=8)
INTEGERS = Case("i8", "i8", "i32", n=8)
BITS = Case("i1", "i1", "i32", n=8)


@pytest.mark.parametrize(
    "case, legal, illegal",
    [
        pytest.param(HALVES, ".f16.f16.f16", ".f16.bf16.bf16", id="bf16 in f16"),
        pytest.param(HALVES, ".f16.f16.f16", ".f16.f16.bf16", id="f16 by bf16"),
        pytest.param(FLOATS, ".f32.bf16.bf16", ".s32.bf16.bf16", id="floats in integers"),
        pytest.param(INTEGERS, ".s32.s8.s8", ".f32.s8.s8", id="integers in floats"),
        pytest.param(INTEGERS, ".s32.s8.s8", ".s32.s8.e4m3", id="integers by floats"),
        pytest.param(INTEGERS, "m64n8k32", "m64n40k32", id="N = 40 of integers"),
        pytest.param(FLOATS, "m64n8k16", "m64n12k16", id="N = 12"),
        pytest.param(FLOATS, "m64n8k16", "m64n8k32", id="K of another type"),
        pytest.param(FLOATS, ".f32.bf16.bf16", ".f32.bf16.bf16.satfinite", id="saturated floats"),
        pytest.param(INTEGERS, ", p;", ", p, -1, 1;", id="negated integers"),
        pytest.param(BYTES, "p, 1,  1;", "p, 1, 1, 1, 0;", id="transposed 8-bit floats"),
        pytest.param(BITS, ".and.popc", "", id="b1 without and.popc"),
    ],
)
def test_an_illegal_form_is_refused(case, legal, illegal):
    ptx = mlir_smem.compile(case.text, emit="ptx").ptx
    assert ptx is not None
    assert legal in ptx
    assemble(ptx, "sm_90a")
    with pytest.raises(CompileError, match="ptxas refuses the PTX"):
        assemble(ptx.replace(legal, illegal), "sm_90a")
