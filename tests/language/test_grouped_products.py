"""Pipelines in branches and nested loops that depend on numbers in memory: proven, and right."""

import numpy as np
import pytest
from grouped_products import around, expected_products, inside, operands, persistent

from mlir_smem.language.errors import TraceError

# Synchronization is inserted only into what is proven, so a call says that a kernel is.


@pytest.mark.parametrize("kernel", [around, inside, persistent()[2]])
def test_products(kernel):
    arguments = operands([70, 0, 3])
    kernel(*arguments.values(), on="cpu")
    assert np.array_equal(arguments["C"], expected_products(arguments))


def test_an_index_that_runs_ahead_is_refused():
    with pytest.raises(TraceError, match="not known whether its pipeline index is the next one"):
        persistent(consumed=1).check("bf16", "bf16", "i32", "f32")
