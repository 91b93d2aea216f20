"""ptxas accepts every form of mma that is lowered for tcgen05; other forms are refused."""

from dataclasses import replace

import narrow_mmas
import pytest
from mma_cases import MIXES, Case, majors, modifier_cases, more_of_tcgen05
from pair_gemm import PairGemm
from scaled_gemm import FORMATS, TILES

import mlir_smem
from fuzz.generated.blocks import BlockCase
from mlir_smem.bindings import ir
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptxas import find_ptxas
from mlir_smem.kernels.gemm.generator import kernel as gemm
from mlir_smem.kernels.gemm.generator.config import Config
from mlir_smem.kernels.gemm.generator.problem import Problem

try:
    find_ptxas()
except CompileError as error:
    pytest.skip(str(error), allow_module_level=True)

LOWERED = [mix for mix in MIXES if "i1" not in mix]
FORMS = [
    case
    for mix in LOWERED
    for registers in (False, True)
    for case in (
        *(Case(*mix, n=8, registers=registers, **major) for major in majors(mix, registers)),
        *modifier_cases(mix, n=8, registers=registers)[-3:],
    )
] + [case for mix in LOWERED for case in more_of_tcgen05(mix)[::3]]


@pytest.mark.parametrize("case", FORMS, ids=str)
def test_every_form_is_assembled(case):
    for arch in ("sm_100a", *(["sm_103a"] if case.d != "i32" else [])):
        report = mlir_smem.compile(case.text, arch=arch).report
        assert report is not None
        assert (report.warnings, report.spill_bytes) == ((), 0)


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a"])
def test_narrow_types_are_assembled(arch):
    for a, b in narrow_mmas.MIXES[:: 2 if arch == "sm_100a" else 5]:
        report = mlir_smem.compile(narrow_mmas.kernel(a, b), arch=arch).report
        assert (report.warnings, report.spill_bytes) == ((), 0), (a, b)


@pytest.mark.parametrize("n, m", [(256, 64), (512, 64), (64, 192), (136, 128), (256, 256)])
def test_large_mmas_are_assembled(n, m):
    case = Case("bf16", "bf16", "f32", n=n, m=m)
    assert mlir_smem.compile(case.text, arch="sm_100a").report.warnings == ()


@pytest.mark.parametrize(
    "case, arch, message",
    [
        (
            Case("i1", "i1", "i32"),
            "sm_100a",
            "multiplies b1 by b1, which tcgen05 does not; wgmma (sm_90) does",
        ),
        (
            Case("i8", "ui8", "i32"),
            "sm_103a",
            "multiplies s8 by u8, which tcgen05 on sm_103 does not; ",
        ),
        (
            Case("f16", "f16", "f32", sparse=True),
            "sm_100a",
            "multiplies a sparse A, which is lowered for ",
        ),
    ],
    ids=str,
)
def test_forms_that_are_not_lowered(case, arch, message):
    with pytest.raises(ir.MLIRError) as error:
        mlir_smem.compile(case.text, arch=arch, emit="nvvm")
    assert message in str(error.value)


def test_the_same_mma_twice_is_issued_twice():
    # LLVM would drop the first, because it believes that the instruction only writes D.
    once = Case("bf16", "bf16", "f32").text
    again = once.replace(
        '%ready = "smem.wait"(%flying)',
        '%more = "smem.mma"(%a, %b, %flying) : (!a, !b, !flying) -> !flying\n'
        '    %most = "smem.mma"(%a, %b, %more) : (!a, !b, !flying) -> !flying\n'
        '    %ready = "smem.wait"(%most)',
    )
    counts = [
        mlir_smem.compile(text, arch="sm_100a", emit="ptx").ptx.count("tcgen05.mma")
        for text in (once, again)
    ]
    assert counts == [4, 12]


E2M1 = ("f4E2M1FN", "f4E2M1FN")
OF_BLOCKS = [
    BlockCase("f8E5M2", n=256, modifier="negate_a"),
    BlockCase("f8E5M2", n=96, pair=True),
    *(
        BlockCase(*E2M1, *scale, n=192 // (1 + pair), k=768, pair=pair)
        for scale in (("f8E8M0FNU", 32), ("f8E8M0FNU", 16), ("f8E4M3FN", 16))
        for pair in (False, True)
    ),
    *(
        BlockCase(a, b, None, d=d, n=128, k=128, pair=True, registers=registers)
        for registers in (False, True)
        for a, b, d in (
            ("f16", "f16", "f16"),
            ("bf16", "bf16", "f32"),
            ("tf32", "tf32", "f32"),
            ("f8E5M2", "f8E4M3FN", "f32"),
        )
    ),
]


@pytest.mark.parametrize("case", OF_BLOCKS, ids=str)
def test_scaled_mmas_and_pairs_are_assembled(case):
    for arch in ("sm_100a", "sm_103a"):
        assert mlir_smem.compile(case.text, arch=arch).report.warnings == (), arch


def test_scaled_mmas_of_padded_types_are_assembled():
    for a, b in narrow_mmas.MIXES[::5]:
        text = narrow_mmas.kernel(a, b, scaled=True)
        assert mlir_smem.compile(text, arch="sm_100a").report.warnings == (), (a, b)


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a"])
def test_the_examples_of_scaled_blocks_are_assembled(arch):
    for example in TILES:
        for name, form in FORMATS.items():
            compiled = mlir_smem.compile(form.text(example), arch=arch)
            report, case = compiled.report, (example, name)
            assert (report.warnings, report.spill_bytes) == ((), 0), case
            # The first K block, and the loop's.
            k = 96 if form.is_long and arch == "sm_103a" else 64 if form.packed == 2 else 32
            assert compiled.ptx.count("block_scale") == 2 * form.k // k, case


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a"])
def test_a_gemm_of_pairs_is_assembled(arch):
    for case in (PairGemm(), PairGemm(n=96, stages=4, major="k")):
        report = mlir_smem.compile(case.text, arch=arch).report
        assert (report.warnings, report.spill_bytes) == ((), 0), str(case)


@pytest.mark.parametrize("tile, consumers", [((256, 128, 64), 2), ((128, 192, 64), 1)])
def test_the_gemm_whose_consumers_have_128_rows_takes_whole_instructions(tile, consumers):
    text = gemm.text(Problem(), Config(tile, consumers=consumers, store_columns=64))
    compiled = mlir_smem.compile(text, arch="sm_100a")
    assert (compiled.report.warnings, compiled.report.spill_bytes) == ((), 0)
    # The first K block and the loop's: four instructions along K, one for all rows and columns.
    assert compiled.ptx.count("tcgen05.mma") == 2 * 4


def test_columns_are_loaded_where_they_are_used():
    case = BlockCase("bf16", "bf16", None, n=256, k=64)
    whole, parts = (
        mlir_smem.compile(replace(case, by=by).text, arch="sm_100a").report for by in (0, 32)
    )
    assert whole.spill_bytes > 0
    assert parts.spill_bytes == 0
    assert parts.registers < 128
