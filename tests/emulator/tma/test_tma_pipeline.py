"""A pipeline filled by bulk tensor copies, in one CTA and in clusters.

Its faults are in `tests/seeded_faults`.
"""

import numpy as np
import pytest
import tma_pipeline
from emulated import run_text

THREADS = 2 * tma_pipeline.LANES


def arrays(ctas, grid):
    source = tma_pipeline.data(ctas, ctas)
    return [source, np.zeros((grid, *source.shape), np.float32)]


@pytest.mark.parametrize("ctas", [1, 2, 4, 8])
def test_every_cta_receives_every_tile(ctas):
    grid = 2 * ctas
    source, result = arrays(ctas, grid)
    run_text(tma_pipeline.text(ctas, grid), "pipeline", (source, result), THREADS, grid)
    assert (result == source).all()
