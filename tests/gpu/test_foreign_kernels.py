"""Tiles in the kernels of other hosts, on the chip: exact."""

import numpy as np
import pytest
from foreign_hosts import CASES, FOREIGN

import mlir_smem
from mlir_smem.runtime import run_on_gpu

#: Products of more blocks than the emulator's, by host; those with static extents have none.
LARGE = [("nvgpu_gemm", (1024, 2048, 512)), ("planned_memory", (1024, 512, 2048))]


@pytest.mark.parametrize("name, size", [*CASES, *LARGE])
def test_results_are_exact_on_the_chip(name, size):
    host = FOREIGN[name]
    inputs, c = host.inputs(*size), host.names[-1]
    compiled = mlir_smem.compile(host.text())
    measured = run_on_gpu(compiled, host.entry, inputs, [c], host.blocks(*size[:2]))[c]
    assert np.array_equal(measured, host.expected_c(inputs))
