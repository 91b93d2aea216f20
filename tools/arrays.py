"""Arrays in `.npy` files, of element types that NumPy's format does not name."""

from pathlib import Path

import ml_dtypes
import numpy as np

from .inputs import InputError

_BF16 = np.dtype(ml_dtypes.bfloat16)


def load(name: str, file: str, dtype: np.dtype) -> np.ndarray:
    """An array of the element type that a kernel's argument has.

    Files hold bf16 as two raw bytes an element (as NumPy writes it), or any array as f32 or f64,
    which is rounded to nearest even.

    Raises:
        InputError: if the file cannot be read, or holds other elements.
    """
    try:
        array = np.load(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{name}: {file}: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{name}: {file} is no .npy file: {error}") from None
    if dtype == _BF16 and array.dtype in (np.dtype("V2"), np.dtype(np.uint16)):
        return array.view(_BF16)
    if array.dtype == dtype:
        return array
    if dtype.kind in "fV" and array.dtype in (np.float32, np.float64):
        return array.astype(dtype, order="K")
    raise InputError(f"{name}: {file} has elements of {array.dtype}; expected {dtype}")


def save(file: str, array: np.ndarray) -> None:
    """Writes an array; bf16 as f32, which holds it exactly and which NumPy can read.

    Raises:
        InputError: if it cannot be written.
    """
    temporary = Path(file).with_name(f".{Path(file).name}.tmp")
    try:
        with temporary.open("wb") as stream:
            np.save(stream, array.astype(np.float32) if array.dtype == _BF16 else array)
        temporary.replace(file)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
