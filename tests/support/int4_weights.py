"""Operands of `examples/int4_matmul.py`."""

import ml_dtypes
import numpy as np

from mlir_smem.layout import pack_nibbles


def operands(m: int, n: int, k: int, group: int = 128):
    """Return packed weights, scales, X, and the product in float64, whose partial sums f32 holds."""
    rng = np.random.default_rng(m)
    weights = rng.integers(-8, 8, (m, k))
    scales = (2.0 ** rng.integers(-3, 4, (m, k // group))).astype(np.float32)
    x = rng.integers(-3, 4, (k, n)).astype(ml_dtypes.bfloat16)
    product = (weights * np.repeat(scales, group, axis=1)).astype(np.float64) @ x.astype(np.float64)
    return pack_nibbles(weights, interleaved=True), scales, x, product
