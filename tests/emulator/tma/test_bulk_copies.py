"""Tiles moved by `smem.tma_load` and `smem.tma_store`, element by element."""

import pytest
from bulk_copies import CASES

import mlir_smem
from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_tile_is_moved(case):
    compiled = mlir_smem.compile(case.text, emit="nvvm")
    moved = run_on_cpu(compiled, "move", case.inputs(), ["D"], case.grid)["D"]
    assert (moved == case.exact()).all()
