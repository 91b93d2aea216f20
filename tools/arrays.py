"""Arrays in `.npy` files, of element types that NumPy's format does not name."""

import io

import ml_dtypes
import numpy as np

from .inputs import InputError, write_all

_BF16 = np.dtype(ml_dtypes.bfloat16)

#: Floats that NumPy's format does not name: files hold their raw bytes.
_UNNAMED = (_BF16, np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2))


def read_npy(name: str, file: str) -> np.ndarray:
    """The array in a file, as it is.

    Raises:
        InputError: if the file cannot be read, or is no `.npy` file.
    """
    try:
        array = np.load(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{name}: {file}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{name}: {file} is no .npy file: {error}") from None
    if not isinstance(array, np.ndarray):
        raise InputError(f"{name}: {file} is no .npy file: it is an archive of arrays")
    return array


def load(name: str, file: str, dtype: np.dtype) -> np.ndarray:
    """An array of the element type that a kernel's argument has.

    Files hold bf16 and 8-bit floats as raw bytes (as NumPy writes them), or any floats as f32 or f64,
    which is rounded to nearest even.

    Raises:
        InputError: if the file cannot be read, or holds other elements.
    """
    array, size = read_npy(name, file), dtype.itemsize
    if dtype in _UNNAMED and array.dtype in (np.dtype(f"V{size}"), np.dtype(f"u{size}")):
        return array.view(dtype)
    if array.dtype == dtype:
        return array
    if dtype.kind in "fV" and array.dtype in (np.float32, np.float64):
        # NumPy would round f64 to f32 and then again.
        if dtype in _UNNAMED and array.dtype == np.float64:
            array = _rounded_to_odd(array)
        return array.astype(dtype, order="K")
    raise InputError(f"{name}: {file} has elements of {array.dtype}; expected {dtype}")


def _rounded_to_odd(array: np.ndarray) -> np.ndarray:
    """f64 as f32, rounded to odd: rounding that to 16 bits is then the same as rounding at once."""
    near = array.astype(np.float32, order="K")
    inexact = near.astype(np.float64) != array
    away = np.abs(near.astype(np.float64)) > np.abs(array)
    bits = near.view(np.uint32)
    odd = (bits - away.astype(np.uint32)) | np.uint32(1)
    return np.where(inexact & np.isfinite(near), odd, bits).view(np.float32)


def save(file: str, array: np.ndarray) -> None:
    """Writes an array; floats that NumPy does not name as f32, which holds them exactly.

    Raises:
        InputError: if it cannot be written.
    """
    data = io.BytesIO()
    np.save(data, array.astype(np.float32) if array.dtype in _UNNAMED else array)
    write_all([(file, data.getvalue())])
