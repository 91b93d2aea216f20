"""Inputs of `examples/attention.mlir`, and the check of its outputs."""

from pathlib import Path

import numpy as np

TEXT = (Path(__file__).parents[2] / "examples" / "attention.mlir").read_text()


def inputs(t: int) -> dict[str, np.ndarray]:
    """Q, K and V of `t` rows, and the scale, which includes that of base 2."""
    random = np.random.default_rng(t)
    q, k, v = (random.standard_normal((t, 64)).astype(np.float16) for _ in range(3))
    scale = np.array([np.log2(np.e) / 8], np.float32)
    return {"Q": q, "K": k, "V": v, "Scale": scale}


def check(outputs: dict[str, np.ndarray], inputs: dict[str, np.ndarray]) -> None:
    """Check O and L against float64.

    A weight is at most 1. It is off by half a unit of f16 (2^-11 of it; 2^-25 for a subnormal one), by
    what the score in its exponent is off, and by the exponential in f32. A score is a sum of 64 products
    in f32, of which 2^-16 of their sizes is a bound. The sum of the weights is not rounded to f16.
    """
    q, k, v = (inputs[name].astype(np.float64) for name in "QKV")
    scale = inputs["Scale"][0].astype(np.float64)
    hidden = np.triu(np.ones((len(q), len(q)), bool), 1)
    scores = np.where(hidden, -np.inf, scale * q @ k.T)
    most = scores.max(axis=1, keepdims=True)
    weights = np.exp2(scores - most)
    sums = weights.sum(axis=1, keepdims=True)
    off = 2.0**-16 * (scale * np.abs(q) @ np.abs(k).T).max()
    relative = 2.0**-11 + 2 * off + 2.0**-20
    bound = (relative * weights @ np.abs(v) + 2.0**-25 * len(q) * np.abs(v).max()) / sums
    assert (np.abs(outputs["O"] - weights @ v / sums) <= bound).all()
    log = (most + np.log2(sums))[:, 0]
    assert (np.abs(outputs["L"] - log) <= 2 * off + 2.0**-20 * (1 + np.abs(log))).all()
