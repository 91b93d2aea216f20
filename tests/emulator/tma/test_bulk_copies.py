"""Tiles copied by `smem.tma_load` and `smem.tma_store`: every element is checked."""

import pytest
from bulk_copies import CASES

import mlir_smem
from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tile_is_copied(case):
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    copied = run_on_cpu(compiled, "move", case.inputs(), ["D"], case.grid)["D"]
    assert (copied == case.exact()).all()
