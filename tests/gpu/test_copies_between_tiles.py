"""Copies from tiles to tiles on the chip: every byte of the tile that is written."""

import pytest
from tile_copies import PARTS, whole_tiles

from mlir_smem.runtime import run_on_gpu

WHOLE = whole_tiles(
    ("f16", "bf16", "tf32", "f32", "f8E4M3FN", "f8E5M2", "i8", "ui8"),
    ("none", "32B", "64B", "128B"),
)


@pytest.mark.parametrize("case", [*WHOLE, *PARTS], ids=str)
def test_every_byte_is_where_the_layout_has_it(case):
    case.check(run_on_gpu(case.compile(), "between", case.inputs(), ["D"], (1,))["D"])
