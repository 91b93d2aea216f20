"""Random operands, and the error bound of an mma."""

import ml_dtypes
import numpy as np

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def operand(rows: int, columns: int, element: str, row_major: bool, seed: int) -> np.ndarray:
    """Return a matrix of normally distributed numbers, of an element type and order."""
    values = np.random.default_rng(seed).standard_normal((rows, columns))
    return np.asarray(values.astype(DTYPES[element]), order="C" if row_major else "F")


def assert_product(d: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Check D = A * B against float64; return the largest error as a fraction of the bound.

    Products of 16-bit types are exact in f32. Each of the K additions aligns its terms to the largest
    one and truncates below 2^-23 of it, and no partial sum is larger than the sum of magnitudes:
    |error| <= K * 2^-23 * (|A| * |B|). A bound of twice that leaves room for the final rounding.
    """
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    bound = 2 * a.shape[1] * 2.0**-23 * (np.abs(wide_a) @ np.abs(wide_b))
    error = np.abs(d.astype(np.float64) - wide_a @ wide_b)
    fraction = float((error / bound).max())
    assert fraction <= 1, f"the error is {fraction:.3g} times the bound"
    return fraction
