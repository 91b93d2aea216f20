"""Copies from tiles to tiles, on the emulator: every byte of the target tile is checked."""

import pytest
from tile_copies import PARTS, whole_tiles

from mlir_smem.runtime import run_on_cpu

WHOLE = [
    *whole_tiles(("i8",), ("none", "32B", "64B", "128B")),
    *whole_tiles(("tf32", "f32", "bf16", "f8E5M2", "ui8"), ("128B",)),
]


@pytest.mark.parametrize("case", [*WHOLE, *PARTS], ids=str)
def test_copied_bytes_are_at_the_places_of_the_layout(case):
    compiled = case.compile(emit="nvvm")
    case.check(run_on_cpu(compiled, "between", case.inputs(), ["D"], (1,))["D"])
