"""Copies of scale factors to tiles on the emulator: every byte of the tile is checked."""

import pytest
from scale_tiles import CASES

from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("case", CASES, ids=str)
def test_factors_are_copied_to_the_places_of_the_layout(case):
    compiled = case.compile(emit="nvvm")
    case.check(run_on_cpu(compiled, "fill", case.inputs(), ["D"], (1,))["D"])
