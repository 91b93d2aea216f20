"""Inputs of `examples/attention_backward.py`, and the check of its outputs."""

import ml_dtypes
import numpy as np


def inputs(t: int, d: int) -> dict[str, np.ndarray]:
    """Q, K, V and dO (t, d), and the results of the forward pass: O, and L, the logarithm of base 2 of
    the sums; and the scale, which includes that of base 2."""
    random = np.random.default_rng(t)
    q, k, v, do = (random.standard_normal((t, d)).astype(ml_dtypes.bfloat16) for _ in range(4))
    scale = np.float32(np.log2(np.e) / np.sqrt(d))
    scores = _scores(q, k, scale)
    most = scores.max(axis=1, keepdims=True)
    weights = np.exp2(scores - most)
    sums = weights.sum(axis=1, keepdims=True)
    o = (weights / sums @ v.astype(np.float64)).astype(np.float32)
    log = (most + np.log2(sums))[:, 0].astype(np.float32)
    return {"Q": q, "K": k, "V": v, "dO": do, "O": o, "L": log, "scale": scale}


def _scores(q: np.ndarray, k: np.ndarray, scale: np.float32) -> np.ndarray:
    hidden = np.triu(np.ones((len(q), len(q)), bool), 1)
    return np.where(hidden, -np.inf, float(scale) * q.astype(np.float64) @ k.astype(np.float64).T)


def check(outputs: dict[str, np.ndarray], inputs: dict[str, np.ndarray]) -> None:
    """Check D, dQ, dK and dV against float64.

    P and dS are rounded to bf16, by at most 2^-9 of them; other errors, of sums and exponentials in f32,
    are below half of that.
    """
    q, k, v, do, o = (inputs[name].astype(np.float64) for name in ("Q", "K", "V", "dO", "O"))
    weights = np.exp2(_scores(inputs["Q"], inputs["K"], inputs["scale"]) - inputs["L"][:, None])
    products, sums = do @ v.T, (o * do).sum(axis=1, keepdims=True)
    scale = float(inputs["scale"]) * np.log(2)
    gradients = scale * weights * (products - sums)
    sizes = scale * weights * (np.abs(do) @ np.abs(v).T + np.abs(o * do).sum(axis=1, keepdims=True))
    expected = {
        "D": (sums[:, 0], 2.0**-7 * np.abs(o * do).sum(axis=1)),
        "dV": (weights.T @ do, weights.T @ np.abs(do)),
        "dK": (gradients.T @ q, sizes.T @ np.abs(q)),
        "dQ": (gradients @ k, sizes @ np.abs(k)),
    }
    for name, (values, bound) in expected.items():
        assert (np.abs(outputs[name] - values) <= 2.0**-8 * bound).all(), name
