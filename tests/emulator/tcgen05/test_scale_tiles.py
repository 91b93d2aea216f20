"""Copies of blocks of scale factors, on the emulator: every byte of the tile."""

import pytest
from scale_tiles import CASES

from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_factor_is_where_the_layout_has_it(case):
    compiled = case.compiled(emit="nvvm")
    case.check(run_on_cpu(compiled, "fill", case.inputs(), ["D"], (1,))["D"])
