"""Copies of scale blocks on the GPU: every byte of the tile. They use no tensor core."""

import pytest
from scale_tiles import CASES

from mlir_smem.runtime import run_on_gpu

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_factor_is_where_the_layout_has_it(case):
    case.check(run_on_gpu(case.compile(), "fill", case.inputs(), ["D"], (1,))["D"])
