"""Compiled block-scaled matrix products, and those of CTA pairs, are exact on the emulator."""

import numpy as np
import pytest

import mlir_smem
from fuzz.generated.blocks import BlockCase
from mlir_smem.runtime import run_on_cpu

E2M1 = ("f4E2M1FN", "f4E2M1FN")

#: The types of scale factors of 4-bit types, and the number of elements that share a factor.
SCALES = (("f8E8M0FNU", 32), ("f8E8M0FNU", 16), ("f8E4M3FN", 16))

#: Products by instructions that read 48 bytes along K.
LONG = (
    *(BlockCase(*E2M1, *scale, n=n, k=768) for scale in SCALES for n in (16, 192)),
    BlockCase(*E2M1, "f8E4M3FN", 16, m=256, n=32, k=768, adds=True),
    BlockCase(*E2M1, "f8E4M3FN", 16, n=64, k=768, pair=True),
)

SCALED = (
    BlockCase(),
    BlockCase("f8E4M3FN", "f8E5M2", n=24, k=128),
    BlockCase("f8E5M2", "f8E4M3FN", n=128, m=256),
    BlockCase(n=384, k=128),
    BlockCase(modifier="negate_a", adds=True),
    *(BlockCase(*E2M1, *scale, n=n) for scale in SCALES for n in (8, 192)),
    BlockCase(*E2M1, "f8E4M3FN", 16, m=256, modifier="negate_b"),
)

#: Products by CTA pairs: every kind, A in shared and in tensor memory.
PAIRS = (
    *(
        BlockCase(a, b, None, d=d, n=n, k=k, pair=True, registers=registers)
        for registers in (False, True)
        for a, b, d, n, k in (
            ("f16", "f16", "f32", 8, 128),
            ("bf16", "bf16", "f32", 128, 64),
            ("f16", "f16", "f16", 24, 64),
            ("tf32", "tf32", "f32", 16, 64),
            ("f8E5M2", "f8E4M3FN", "f32", 40, 128),
            ("i8", "ui8", "i32", 48, 128),
        )
    ),
    BlockCase("bf16", "bf16", None, m=256, n=64, k=128, pair=True, adds=True),
    BlockCase(pair=True, n=32),
    BlockCase(*E2M1, "f8E4M3FN", 16, pair=True, n=32),
    BlockCase(pair=True, n=64, m=256, adds=True),
)

#: Products whose results are stored some columns at a time, of several types and rows of MMA tiles.
BY_COLUMNS = (
    BlockCase("bf16", "bf16", None, n=96, k=64, by=32),
    BlockCase("f16", "f16", None, d="f16", m=256, n=80, k=64, by=16),
    BlockCase("f16", "f16", None, m=192, n=48, k=64, by=24, adds=True),
    BlockCase("bf16", "bf16", None, m=256, n=32, k=64, pair=True, by=8),
)


def run(case, arch="sm_100a"):
    """D as the emulator computes it."""
    compiled = mlir_smem.compile(case.text, arch=arch, emit="nvvm")
    return run_on_cpu(compiled, "product", case.inputs(), ["D"], (case.blocks,))["D"]


@pytest.mark.parametrize("case", [*SCALED, *PAIRS, *BY_COLUMNS], ids=str)
def test_product_is_exact(case):
    assert np.array_equal(run(case), case.expected_result())


@pytest.mark.parametrize("case", LONG, ids=str)
def test_rows_of_48_bytes(case):
    text = mlir_smem.compile(case.text, arch="sm_103a", emit="nvvm").located
    assert text.count("tcgen05.mma.block_scale") == 8 * case.m // 128 * (1 + case.adds)
    expected = case.expected_result()
    for arch in ("sm_100a", "sm_103a"):
        assert np.array_equal(run(case, arch), expected), arch


def test_rows_of_48_bytes_with_a_narrower_swizzle():
    narrow = '#smem.swizzle<"64B", "column-major">'
    case = BlockCase(*E2M1, "f8E4M3FN", 16, n=32, k=768, b_layout=narrow)
    text = mlir_smem.compile(case.text, arch="sm_103a", emit="nvvm").located
    assert text.count("tcgen05.mma.block_scale") == 12
    assert np.array_equal(run(case, "sm_103a"), case.expected_result())
