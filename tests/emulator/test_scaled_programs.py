"""Programs that multiply scaled blocks, and pairs of blocks, compute what they say on the emulator."""

import numpy as np
import pytest
from scaled_cases import ScaledCase

import mlir_smem
from mlir_smem.runtime import run_on_cpu

SCALED = (
    ScaledCase(),
    ScaledCase("f8E4M3FN", "f8E5M2", n=24, k=128),
    ScaledCase("f8E5M2", "f8E4M3FN", n=128, m=256),
    ScaledCase(n=384, k=128),
    ScaledCase(modifier="negate_a", adds=True),
    ScaledCase(pair=True, n=32),
    ScaledCase(pair=True, n=64, m=256, adds=True),
)


def run(case, arch="sm_100a"):
    """What a kernel computes."""
    compiled = mlir_smem.compile(case.text, arch=arch, emit="nvvm")
    return run_on_cpu(compiled, "product", case.inputs(), ["D"], (case.blocks,))["D"]


@pytest.mark.parametrize("case", SCALED, ids=str)
def test_scaled_blocks(case):
    assert np.array_equal(run(case), case.expected())
