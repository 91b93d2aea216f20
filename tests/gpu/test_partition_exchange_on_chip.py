"""Barriers of several warpgroups of a partition: rows that they exchange, on the chip."""

import numpy as np
import pytest
from exchange_kernels import ROWS, ROWS_F16, exchange, product

from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize(
    "kernel",
    [exchange(sync="auto"), exchange(sync="auto", count=3), exchange(write=2, read=2, count=50)],
)
def test_rows_are_exchanged(kernel):
    inputs = {"A": ROWS, "C": np.zeros_like(ROWS)}
    compiled = kernel.compile(*inputs.values())
    for _ in range(20):
        outputs = run_on_gpu(compiled, None, inputs, ["C"], grid=(1,))
        assert np.array_equal(outputs["C"], np.roll(ROWS, 64, 0))


@pytest.mark.parametrize("sync", ["auto", "manual"])
def test_all_read_what_each_writes(sync):
    b = np.eye(64, dtype=np.float16)[::-1].copy()
    inputs = {"A": ROWS_F16, "B": b, "C": np.zeros_like(ROWS)}
    compiled = product(sync).compile(*inputs.values())
    for _ in range(20):
        outputs = run_on_gpu(compiled, None, inputs, ["C"], grid=(1,))
        assert np.array_equal(outputs["C"], ROWS_F16[:, ::-1])
