"""A pipeline that bulk tensor copies fill, alone and in clusters; its faults are in `tests/seeded_faults`."""

import numpy as np
import pytest
import tma_pipeline
from emulated import run_text

BLOCK = 2 * tma_pipeline.LANES


def arrays(blocks, grid):
    given = tma_pipeline.data(blocks, blocks)
    return [given, np.zeros((grid, *given.shape), np.float32)]


@pytest.mark.parametrize("blocks", [1, 2, 4, 8])
def test_every_block_gets_every_tile(blocks):
    grid = 2 * blocks
    given, result = arrays(blocks, grid)
    run_text(tma_pipeline.text(blocks, grid), "pipeline", (given, result), BLOCK, grid)
    assert (result == given).all()
