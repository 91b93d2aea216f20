"""Windows over the edges of arrays: the chip computes what the emulator does, and writes nothing else."""

import numpy as np
import pytest
from ml_dtypes import bfloat16
from ragged_kernel import edges

from mlir_smem.runtime import run_on_cpu, run_on_gpu


@pytest.mark.parametrize("dtype", [np.float32, bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("m, n", [(1, 2), (65, 34), (70, 62), (300, 514)])
def test_windows_over_an_edge(m, n, dtype):
    random = np.random.default_rng(m * n)
    inputs = {
        "A": random.integers(-9, 10, (m, n)).astype(dtype),
        "R": random.integers(-9, 10, m).astype(np.float32),
        "S": random.integers(-9, 10, n).astype(np.float32),
    }
    sizes = {"C": np.zeros((m, n), np.float32), "L": np.zeros(m, np.float32)}
    types = [(inputs | sizes)[parameter] for parameter in edges.parameters]
    arguments = {**inputs, **sizes}
    emulated = run_on_cpu(edges.compile(*types, emit="nvvm"), None, arguments, ["C", "L"])
    measured = run_on_gpu(edges.compile(*types), None, arguments, ["C", "L"])
    for output in ("C", "L"):
        np.testing.assert_array_equal(np.asarray(measured[output]), emulated[output])
