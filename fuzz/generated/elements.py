"""Element types in NumPy and in global memory."""

import ml_dtypes
import numpy as np

#: NumPy types of elements and scale factors by MLIR type; 4-bit and 6-bit types take a byte in NumPy.
DTYPES = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "i8": np.int8,
    "ui8": np.uint8,
    "i32": np.int32,
}


def pack_elements(array: np.ndarray, element: str) -> np.ndarray:
    """Pack an array as in global memory: two 4-bit elements in a byte, the first in the low bits."""
    if element != "f4E2M1FN":
        return array
    codes = array.view(np.uint8)
    return (codes[..., ::2] | codes[..., 1::2] << 4).view(np.int8)
