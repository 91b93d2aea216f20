"""What `examples/attention.mlir` is given, and what it must give."""

from pathlib import Path

import numpy as np

TEXT = (Path(__file__).parents[2] / "examples" / "attention.mlir").read_text()


def inputs(t: int) -> dict[str, np.ndarray]:
    """Q, K and V of t rows, ones, and a scale."""
    random = np.random.default_rng(t)
    q, k, v = (random.standard_normal((t, 64)).astype(np.float16) for _ in range(3))
    scale = np.array([0.125], np.float32)
    return {"Q": q, "K": k, "V": v, "One": np.ones((64, 8), np.float16), "Scale": scale}


def check(found: dict[str, np.ndarray], given: dict[str, np.ndarray]) -> None:
    """Checks O and L.

    A weight may be rounded to the neighbour of the f16 that it is in float64, 2^-10 of it away.
    """
    q, k, v = (given[name].astype(np.float64) for name in "QKV")
    exact = np.tril(np.exp2(given["Scale"][0].astype(np.float64) * q @ k.T))
    weights = exact.astype(np.float16).astype(np.float64)
    sums = weights.sum(axis=1, keepdims=True)
    size = weights @ np.abs(v)
    assert (np.abs(found["O"] - weights @ v) <= 2.0**-9 * size).all()
    assert (np.abs(found["L"] - sums) <= 2.0**-9 * sums).all()
