"""Traced kernels on the chip: byte for byte what the emulator computes."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.examples.matmul import matmul
from mlir_smem.runtime import run_on_cpu, run_on_gpu

RNG = np.random.default_rng(11)


@sl.kernel("(M,64), (64,), (M,64), (M,)", sync="manual")
def softmax(X, bias, Y, L):
    """Compute the softmax of rows of X + bias, and the logarithm of the sums."""
    row = sl.grid(sl.cdiv(sl.multiple_of(X.shape[0], 64), 64)) * 64
    x = sl.load(X[row : row + 64, :]) + sl.load(bias, axis=0)
    largest = x.max(axis=1)
    weights = sl.exp2(x - largest)
    sums = weights.sum(axis=1)
    sl.store(weights / sums, Y[row : row + 64, :])
    sl.store(sl.log2(sums) + largest, L[row : row + 64])


@sl.kernel("(M,64), (M,64)", sync="manual")
def branches(A, D):
    """Loops and branches that depend on the block, with signed indices."""
    block = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], 64), 64))
    x = sl.load(A[sl.ds(block * 64, 64), :])
    for k in sl.range(block + 1):
        left = k - 2
        with sl.when((left < 0) & (left % 2 == 1)):
            x = x + 1.0
        with sl.otherwise():
            x = x * 2.0
    sl.store(sl.where(sl.iota(1) <= sl.iota(0) + block, x, 0.0), D[sl.ds(block * 64, 64), :])


def random_array(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


CASES = {
    "matmul": (
        matmul,
        {
            "A": random_array(256, 192, dtype=ml_dtypes.bfloat16),
            "B": random_array(192, 512, dtype=ml_dtypes.bfloat16),
            "C": np.zeros((256, 512), ml_dtypes.bfloat16),
        },
        ["C"],
    ),
    "softmax": (
        softmax,
        {
            "X": random_array(256, 64),
            "bias": random_array(64),
            "Y": random_array(256, 64),
            "L": random_array(256),
        },
        ["Y", "L"],
    ),
    "branches": (branches, {"A": random_array(320, 64), "D": random_array(320, 64)}, ["D"]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_chip_computes_what_the_emulator_does(name):
    kernel, inputs, outputs = CASES[name]
    types = [inputs[parameter] for parameter in kernel.parameters]
    emulated = run_on_cpu(kernel.compile(*types, emit="nvvm"), None, inputs, outputs)
    measured = run_on_gpu(kernel.compile(*types), None, inputs, outputs)
    for output in outputs:
        on_chip, expected = (
            np.asarray(arrays[output]).astype(np.float64) for arrays in (measured, emulated)
        )
        np.testing.assert_allclose(on_chip, expected, rtol=2e-6 if name == "softmax" else 0)
