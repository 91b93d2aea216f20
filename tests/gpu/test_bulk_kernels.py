"""Tiles moved by TMA on the chip, element by element.

pytest tests/gpu/test_bulk_kernels.py -n 8 --record FILE
"""

import pytest
from bulk_copies import CASES

import mlir_smem
from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_tile_is_moved(case):
    moved = run_on_gpu(mlir_smem.compile(case.text), "move", case.inputs(), ["D"], case.grid)["D"]
    assert (moved == case.exact()).all()
