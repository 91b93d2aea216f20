"""ptxas accepts every form of wgmma that is emitted, and refuses what the verifier refuses.

    pytest tests/codegen/test_wgmma_forms.py --every-form -n 2

Illegal forms are edits of the PTX of a legal kernel, so that nothing else is wrong. The verifier's
message for each is in lit_tests/invalid.
"""

import re
from dataclasses import replace

import pytest
from mma_cases import MIXES, Case, every_case, forms, modifier_cases

import mlir_smem
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptxas import assemble, find_ptxas

try:
    find_ptxas()
except CompileError as error:
    pytest.skip(str(error), allow_module_level=True)


def one_of_each():
    """Return each mix in each form, with the widest instruction and with each modifier and value of
    scale-d."""
    cases = {}
    for mix in MIXES:
        for form in forms(mix):
            widest = Case(*mix, n=8 if any(form.values()) else 256, **form)
            for case in (widest, *modifier_cases(mix, n=8, **form)):
                # The start values of accumulators do not make another form.
                qualifiers = (case.modifier, case.start is None, case.keep is None)
                cases.setdefault((case.n, mix, *form.values(), qualifiers), case)
    return list(cases.values())


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames and "legal" not in metafunc.fixturenames:
        every = metafunc.config.getoption("--every-form")
        metafunc.parametrize("case", every_case() if every else one_of_each(), ids=str)


def test_a_legal_form_is_assembled_without_output(case):
    report = mlir_smem.compile(case.text).report
    assert report is not None
    assert report.warnings == ()
    if case.n <= 256 and case.m == 64:
        assert report.spill_bytes == 0


def test_one_of_each_has_every_form():
    def form(case):
        qualifiers = (case.modifier, case.start is None, case.keep is None)
        return (*case.mix, case.registers, case.sparse, *qualifiers)

    assert {form(case) for case in one_of_each()} == {form(case) for case in every_case()}


def check_refused(ptx):
    """Check that ptxas refuses PTX because of a wgmma."""
    with pytest.raises(CompileError, match=r"(?s)ptxas refuses the PTX:.*(wgmma|modifier '.m64n)"):
        assemble(ptx, "sm_90a")


FLOATS = Case("bf16", "bf16", "f32", n=8)
HALVES = Case("f16", "f16", "f16", n=8)
BYTES = Case("f8E4M3FN", "f8E4M3FN", "f32", n=8)
INTEGERS = Case("i8", "i8", "i32", n=8)
BITS = Case("i1", "i1", "i32", n=8)
IN_REGISTERS = {"registers": True}
SPARSE = {"sparse": True}
BOTH = {**IN_REGISTERS, **SPARSE}
FLOATS_IN_F16 = (".f32.bf16.bf16", ".f16.bf16.bf16")


@pytest.mark.parametrize(
    "case, form, legal, illegal",
    [
        # Types.
        pytest.param(HALVES, {}, ".f16.f16.f16", ".f16.bf16.bf16", id="bf16 in f16"),
        pytest.param(FLOATS, IN_REGISTERS, *FLOATS_IN_F16, id="bf16 in f16, A in registers"),
        pytest.param(FLOATS, SPARSE, *FLOATS_IN_F16, id="bf16 in f16, sparse"),
        pytest.param(HALVES, {}, ".f16.f16.f16", ".f16.f16.bf16", id="f16 by bf16"),
        pytest.param(HALVES, BOTH, ".f16.f16.f16", ".f16.f16.bf16", id="sparse f16 by bf16"),
        pytest.param(FLOATS, {}, ".f32.bf16.bf16", ".s32.bf16.bf16", id="floats in integers"),
        pytest.param(INTEGERS, {}, ".s32.s8.s8", ".f32.s8.s8", id="integers in floats"),
        pytest.param(INTEGERS, {}, ".s32.s8.s8", ".s32.s8.e4m3", id="integers by floats"),
        pytest.param(INTEGERS, BOTH, ".s32.s8.s8", ".s32.s8.e4m3", id="sparse integers by floats"),
        pytest.param(BITS, {}, ".and.popc", "", id="b1 without and.popc"),
        pytest.param(BITS, IN_REGISTERS, ".and.popc", "", id="b1 without and.popc, in registers"),
        # Shapes.
        pytest.param(INTEGERS, {}, "m64n8k32", "m64n40k32", id="N = 40 of integers"),
        pytest.param(INTEGERS, IN_REGISTERS, "m64n8k32", "m64n40k32", id="N = 40, A in registers"),
        pytest.param(INTEGERS, SPARSE, "m64n8k64", "m64n40k64", id="N = 40 of sparse integers"),
        pytest.param(FLOATS, {}, "m64n8k16", "m64n12k16", id="N = 12"),
        pytest.param(FLOATS, SPARSE, "m64n8k32", "m64n12k32", id="sparse N = 12"),
        pytest.param(FLOATS, {}, "m64n8k16", "m64n8k32", id="K of another type"),
        pytest.param(FLOATS, SPARSE, "m64n8k32", "m64n8k16", id="sparse with the dense K"),
        pytest.param(INTEGERS, BOTH, "m64n8k64", "m64n8k32", id="sparse integers, the dense K"),
        # Modifiers.
        pytest.param(FLOATS, {}, ".bf16.bf16", ".bf16.bf16.satfinite", id="saturated floats"),
        pytest.param(FLOATS, SPARSE, ".bf16.bf16", ".bf16.bf16.satfinite", id="saturated, sparse"),
        pytest.param(
            BYTES, IN_REGISTERS, ".e4m3.e4m3", ".e4m3.e4m3.satfinite", id="saturated e4m3"
        ),
        pytest.param(BITS, {}, ".s32.b1", ".satfinite.s32.b1", id="saturated b1"),
        pytest.param(INTEGERS, {}, ", p;", ", p, -1, 1;", id="negated integers"),
        pytest.param(
            INTEGERS, IN_REGISTERS, ", p;", ", p, -1, 1;", id="negated integers in registers"
        ),
        pytest.param(INTEGERS, SPARSE, ", p;", ", p, 1, 1;", id="signs of sparse integers"),
        # Transposes: of 16-bit types, and of A only in shared memory.
        pytest.param(BYTES, {}, "p, 1,  1;", "p, 1, 1, 1, 0;", id="transposed 8-bit floats"),
        pytest.param(BYTES, IN_REGISTERS, "p, 1, 1;", "p, 1, 1, 1;", id="transposed 8-bit B"),
        pytest.param(
            FLOATS, IN_REGISTERS, "p, 1, 1, 0;", "p, 1, 1, 1, 0;", id="transposed registers"
        ),
        pytest.param(
            FLOATS, BOTH, "p, 1, 1, 0;", "p, 1, 1, 1, 0;", id="transposed sparse registers"
        ),
        # Selectors of the threads that hold the metadata.
        pytest.param(FLOATS, SPARSE, ", 1, p,", ", 2, p,", id="selector 2"),
        pytest.param(FLOATS, BOTH, ", 1, p,", ", 2, p,", id="selector 2, A in registers"),
        pytest.param(INTEGERS, SPARSE, ", 0, p;", ", 1, p;", id="selector 1 of s8"),
        pytest.param(BYTES, SPARSE, ", 0, p,", ", 1, p,", id="selector 1 of e4m3"),
        pytest.param(BYTES, BOTH, ", 0, p,", ", 1, p,", id="selector 1 of e4m3, A in registers"),
    ],
)
def test_an_illegal_form_is_refused(case, form, legal, illegal):
    ptx = mlir_smem.compile(replace(case, **form).text, emit="ptx").ptx
    assert ptx is not None
    assert legal in ptx
    assemble(ptx, "sm_90a")
    check_refused(ptx.replace(legal, illegal))


@pytest.mark.parametrize(
    "case, k, legal",
    [
        pytest.param(INTEGERS, 64, True, id="s8"),
        pytest.param(BITS, 256, False, id="b1"),
        pytest.param(BITS, 512, False, id="b1 of twice the K"),
    ],
)
def test_a_sparse_form_made_of_a_dense_one(case, k, legal):
    # There is no sparse b1 kernel to edit; the s8 kernel shows that nothing else is wrong.
    dense = mlir_smem.compile(case.text, emit="ptx").ptx
    assert dense is not None
    sparse, count = re.subn(
        r"wgmma\.mma_async(\S+n8)k\d+(\S+ \{\S+ \S+ \S+ \S+\}, \S+, \S+), p;",
        rf"wgmma.mma_async.sp\g<1>k{k}\g<2>, %r1, 0, p;",
        dense,
    )
    assert count == 4
    if legal:
        assemble(sparse, "sm_90a")
    else:
        check_refused(sparse)
