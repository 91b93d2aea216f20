"""Inputs of `examples/attention.mlir`, and the check of its outputs."""

from pathlib import Path

import numpy as np

TEXT = (Path(__file__).parents[2] / "examples" / "attention.mlir").read_text()


def inputs(t: int) -> dict[str, np.ndarray]:
    """Q, K and V of `t` rows, a matrix of ones, and the scale."""
    random = np.random.default_rng(t)
    q, k, v = (random.standard_normal((t, 64)).astype(np.float16) for _ in range(3))
    scale = np.array([0.125], np.float32)
    return {"Q": q, "K": k, "V": v, "One": np.ones((64, 8), np.float16), "Scale": scale}


def check(outputs: dict[str, np.ndarray], inputs: dict[str, np.ndarray]) -> None:
    """Check O and L.

    A weight may be rounded to a neighbour of the f16 nearest to its value in float64, 2^-10 of it away.
    """
    q, k, v = (inputs[name].astype(np.float64) for name in "QKV")
    exact = np.tril(np.exp2(inputs["Scale"][0].astype(np.float64) * q @ k.T))
    weights = exact.astype(np.float16).astype(np.float64)
    sums = weights.sum(axis=1, keepdims=True)
    size = weights @ np.abs(v)
    assert (np.abs(outputs["O"] - weights @ v) <= 2.0**-9 * size).all()
    assert (np.abs(outputs["L"] - sums) <= 2.0**-9 * sums).all()
