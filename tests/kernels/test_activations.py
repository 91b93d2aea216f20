"""Activation functions, against NumPy in f64."""

from math import erf, sqrt

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.kernels.gemm import activations


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


EXACT = {
    "relu": lambda x: np.maximum(x, 0),
    "relu_squared": lambda x: np.maximum(x, 0) ** 2,
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "gelu": lambda x: x * (1 + np.vectorize(erf)(x / sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
}


@pytest.mark.parametrize("name", activations.__all__)
def test_an_activation_is_as_exact_as_f32(name):
    function = getattr(activations, name)

    @sl.kernel("(64,64), (64,64)", sync="manual")
    def apply(source, target):
        sl.store(function(sl.load(source)), target)

    x = np.linspace(-20, 20, 64 * 64, dtype=np.float32).reshape(64, 64)
    x[0, :3] = 0.0, -0.0, 1e-20
    y = np.zeros_like(x)
    apply[(1,)](x, y, on="cpu")
    expected = EXACT[name](x.astype(np.float64))
    assert (np.abs(y - expected) <= 1e-6 * np.abs(expected) + 2e-6).all()


@pytest.mark.parametrize("name", ["silu", "gelu_tanh"])
def test_the_ends_are_finite(name):
    """The exponential of a large number is infinite, and its inverse is 0."""
    function = getattr(activations, name)

    @sl.kernel("(64,64), (64,64)", sync="manual")
    def apply(source, target):
        sl.store(function(sl.load(source)), target)

    x = np.full((64, 64), -1e4, np.float32)
    x[:, ::2] = 1e4
    y = np.ones_like(x)
    apply[(1,)](x, y, on="cpu")
    assert (y == np.maximum(x, 0)).all()
