"""Computations with fragments on the emulator: chains of two mma, epilogues through tiles."""

import pytest
from fragment_cases import CHAINS, EPILOGUES

import mlir_smem
from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("case", CHAINS, ids=str)
def test_chain_of_two_mma_is_exact(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    assert (run_on_cpu(compiled, "chain", inputs, ["E"], (1,))["E"] == case.exact(inputs)).all()


@pytest.mark.parametrize("case", EPILOGUES, ids=str)
def test_epilogue_is_exact(case):
    inputs = case.inputs()
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    assert (run_on_cpu(compiled, "epilogue", inputs, ["D"], (1,))["D"] == case.exact(inputs)).all()
