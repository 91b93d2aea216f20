"""Programs compiled for tcgen05 and for wgmma compute the same bytes on the emulator.

The emulator's implementations of the two share only the arithmetic of the tensor core.
"""

import re
from pathlib import Path

import attention_example
import ml_dtypes
import numpy as np
import pytest
from emulated import faults_of
from mma_cases import MIXES, Case, majors, modifier_cases, more_of_tcgen05

import mlir_smem
from fuzz.generated.gemms import GemmCase
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.emulator import ViolationKind
from mlir_smem.kernels.gemm.generator.config import Config
from mlir_smem.kernels.gemm.generator.kernel import build
from mlir_smem.kernels.gemm.generator.problem import Problem
from mlir_smem.runtime import run_on_cpu

EXAMPLES = Path(__file__).parents[3] / "examples"

#: Each mix of types that tcgen05 multiplies, with A in each place: each majorness, several loads, several
#: MMA tiles along M, modifiers, and run-time scale-d.
PRODUCTS = [
    case
    for mix in MIXES
    if "i1" not in mix
    for registers in (False, True)
    for case in (
        *(Case(*mix, n=24, registers=registers, **major) for major in majors(mix, registers)),
        *modifier_cases(mix, n=24, registers=registers)[-3:],
        *(Case(*mix, n=16, m=m, registers=registers) for m in (128, 192, 256)),
    )
] + [case for mix in MIXES for case in more_of_tcgen05(mix)]


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_product_is_exact(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text, arch="sm_100a", emit="nvvm")
    case.check(run_on_cpu(compiled, "product", inputs, ["D"], (1,))["D"], inputs)


def both(text, entry, inputs, outputs, grid=None, arch="sm_100a", **options):
    """Yield the outputs of a program on sm_90a, then on `arch`."""
    for target in ("sm_90a", arch):
        compiled = mlir_smem.compile(text, arch=target, emit="nvvm", **options)
        yield run_on_cpu(compiled, entry, inputs, outputs, grid)


def test_random_programs():
    for seed in range(6):
        program = GemmCase.from_seed(seed)
        hopper, blackwell = both(
            program.text,
            "product",
            program.inputs(),
            ["D"],
            program.grid,
            reserved_bytes=program.reserved_bytes,
        )
        assert hopper["D"].tobytes() == blackwell["D"].tobytes(), seed


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a"])
def test_the_example(arch):
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((128, 320), (320, 256)))
    text = (EXAMPLES / "matmul.mlir").read_text()
    hopper, blackwell = both(text, "matmul", {"A": a, "B": b}, ["C"], arch=arch)
    assert hopper["C"].tobytes() == blackwell["C"].tobytes()


def test_attention_with_scores_as_a_in_tensor_memory():
    inputs = attention_example.inputs(64)
    hopper, blackwell = both(attention_example.TEXT, "attention", inputs, ["O", "L"])
    attention_example.check(blackwell, inputs)
    assert all(hopper[name].tobytes() == blackwell[name].tobytes() for name in "OL")


@pytest.mark.parametrize(
    "rows, cluster, consumers, extents",
    [
        (64, (2, 1), 2, (200, 264, 136)),
        (64, (1, 1), 1, (136, 128, 72)),
        (128, (1, 2), 2, (300, 264, 136)),
        (128, (1, 1), 1, (264, 136, 200)),
    ],
)
def test_gemm_with_partitions_pipelines_and_clusters(rows, cluster, consumers, extents):
    """Consumers have 64 rows, or the 128 of a whole instruction."""
    config = Config((rows * consumers, 128, 64), 2, cluster, consumers, store_columns=64)
    with new_context(), ir.Location.unknown():
        text = str(build(Problem(), config))
    m, n, k = extents
    random = np.random.default_rng(m)
    a, b = (random.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((m, k), (k, n)))
    grid = config.grid(m, n, k, 4)
    hopper, blackwell = both(text, "gemm", {"A": a, "B": b}, ["C"], grid)
    assert hopper["C"].tobytes() == blackwell["C"].tobytes()


# Every op that the lowering inserts is necessary.

TWICE = Case("bf16", "bf16", "f32", registers=True).text.replace(
    '%ready = "smem.wait"(%flying)',
    '%more = "smem.mma"(%ra, %b, %flying) : (!ra, !b, !flying) -> !flying\n'
    '    %ready = "smem.wait"(%more)',
)


@pytest.mark.parametrize(
    "dropped, kind, words",
    [
        (
            r"nvvm\.tcgen05\.dealloc",
            ViolationKind.TENSOR_MEMORY,
            "tcgen05.dealloc is missing before it",
        ),
        (r"nvvm\.tcgen05\.wait <load>", ViolationKind.OVERWRITTEN, "tcgen05.wait::ld is missing"),
        (
            r"nvvm\.tcgen05\.wait <store>",
            ViolationKind.TENSOR_MEMORY_IN_FLIGHT,
            "tcgen05.wait::st is missing",
        ),
        (r"nvvm\.fence\.proxy", ViolationKind.UNFENCED, "fence"),
    ],
)
def test_removed_op_is_noticed(dropped, kind, words):
    case = Case("bf16", "bf16", "f32", registers=True)
    lowered = mlir_smem.compile(TWICE, arch="sm_100a", emit="nvvm")
    manifest = lowered.manifest["kernels"][0]
    inputs = case.inputs()
    arrays = [inputs["A"], inputs["B"], np.zeros((case.m, case.n), np.float32)]
    options = {"block": 128, "shared": manifest["shared_bytes"]}
    assert faults_of(lowered.located, "product", arrays, **options) == []
    lines = lowered.located.splitlines(keepends=True)
    broken = "".join(line for line in lines if not re.search(dropped, line))
    assert broken != lowered.located
    faults = faults_of(broken, "product", arrays, **options)
    assert any(fault.kind is kind and words in fault.message for fault in faults), faults
