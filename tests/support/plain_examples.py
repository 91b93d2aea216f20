"""Inputs and exact results of examples: `plain_loops.py`, `softmax.py`, `convolution.py` and `ssd.py`.

Each function returns the arguments of a kernel, results included, the constants, and for each result the
argument's index, what float64 has, and how far from it the kernel's may be.
"""

import ml_dtypes
import numpy as np

Case = tuple[list[np.ndarray], dict, list[tuple[int, np.ndarray, np.ndarray | float]]]


def _random(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return values.astype(ml_dtypes.bfloat16)


def attention(batch: int, heads: int, t: int, d: int, causal: bool) -> Case:
    """Heads of (batch, T, heads, d), as transposed views. A weight is rounded to bf16, by 2^-9 of it."""
    q, k, v = (_random(seed, batch, t, heads, d).swapaxes(1, 2) for seed in range(3))
    o = np.zeros((batch, t, heads, d), np.float32).swapaxes(1, 2)
    eq, ek, ev = (x.astype(np.float64) for x in (q, k, v))
    s = eq @ ek.swapaxes(2, 3) / np.sqrt(d)
    if causal:
        s = np.where(np.tri(t, dtype=bool), s, -np.inf)
    weights = np.exp(s) / np.exp(s).sum(-1, keepdims=True)
    expected = [(3, weights @ ev, 2.0**-8 * weights @ np.abs(ev))]
    return [q, k, v, o], {"d": d, "causal": causal}, expected


def matmul(m: int, n: int, k: int, **tile: int) -> Case:
    """Small integers, whose sums are exact."""
    random = np.random.default_rng(m)
    a, b = (random.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    return [a, b, c], tile, [(2, a.astype(np.float32) @ b.astype(np.float32), 0.0)]


def softmax(m: int, n: int, k: int) -> Case:
    """Scores of a variance near 1; their errors are below 1e-5, and so are those of the logarithms."""
    a, b, c = _random(0, m, k), _random(1, k, n, scale=k**-0.5), np.zeros((m, n), np.float32)
    weights = np.exp(a.astype(np.float64) @ b.astype(np.float64))
    expected = weights / weights.sum(1, keepdims=True)
    return [a, b, c], {"n": n}, [(2, expected, 1e-4 * expected)]


def convolution(images: int, rows: int, columns: int, channels: int, filters: int, w: int) -> Case:
    """Small integers, whose sums are exact."""
    random = np.random.default_rng(w)
    shapes = (images, rows, columns, channels), (3, 3, channels, filters)
    x, f = (random.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in shapes)
    padded = np.pad(x.astype(np.float32), ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [(r, s) for r in range(3) for s in range(3)]
    products = [
        padded[:, r : r + rows, s : s + columns] @ f.astype(np.float32)[r, s] for r, s in taps
    ]
    y = np.zeros((images, rows, columns, filters), np.float32)
    return [x, f, y], {"w": w}, [(2, np.sum(products, axis=0), 0.0)]


def ssd(heads: int, t: int) -> Case:
    """Decays of about a tenth a step. Operands of products are rounded to bf16, by 2^-9 of them."""
    b, c, x = (_random(seed, heads, t, 64, scale=0.3) for seed in range(3))
    a = -0.1 * np.abs(np.random.default_rng(3).standard_normal((heads, t)))
    sums = a.reshape(heads, -1, 64).cumsum(-1).reshape(a.shape).astype(np.float32)
    eb, ec, ex = (array.astype(np.float64) for array in (b, c, x))
    y, expected, bound = (np.zeros(b.shape, dtype) for dtype in (np.float32, float, float))
    state, size = np.zeros((2, heads, 64, 64))
    for step in range(t):
        decay = np.exp(a[:, step, None, None])
        outer = eb[:, step, :, None] * ex[:, step, None, :]
        state, size = decay * state + outer, decay * size + np.abs(outer)
        expected[:, step] = np.einsum("hn,hnp->hp", ec[:, step], state)
        bound[:, step] = np.einsum("hn,hnp->hp", np.abs(ec[:, step]), size)
    return [b, c, x, sums, y], {}, [(4, expected, 2.0**-7 * bound)]


def check(case: Case) -> None:
    """Check the results, which a kernel has written to the arguments of a case."""
    arguments, _, results = case
    for index, expected, bound in results:
        assert (np.abs(arguments[index] - expected) <= bound).all(), index
