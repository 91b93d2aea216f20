"""Copies from tiles to tiles, on the emulator: every byte of the tile that is written."""

import pytest
from tile_copies import PARTS, whole_tiles

from mlir_smem.runtime import run_on_cpu

WHOLE = [
    *whole_tiles(("i8",), ("none", "32B", "64B", "128B")),
    *whole_tiles(("tf32", "f32", "bf16", "f8E5M2", "ui8"), ("128B",)),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", [*WHOLE, *PARTS], ids=str)
def test_every_byte_is_where_the_layout_has_it(case):
    compiled = case.compiled(emit="nvvm")
    case.check(run_on_cpu(compiled, "between", case.inputs(), ["D"], (1,))["D"])
