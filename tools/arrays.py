"""Arrays in `.npy` files, of element types that NumPy's format does not name."""

import io
import os
from collections.abc import Sequence
from math import prod
from tokenize import TokenError
from typing import BinaryIO

import ml_dtypes
import numpy as np

from .inputs import InputError
from .outputs import write_all

#: Floats that NumPy's format does not name: files hold their raw bytes.
_UNNAMED = (
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn),
    np.dtype(ml_dtypes.float8_e5m2),
    np.dtype(ml_dtypes.float8_e8m0fnu),
)


def read_npy(name: str, file: str) -> np.ndarray:
    """The array in a file, as it is.

    Raises:
        InputError: if the file cannot be read, or is no `.npy` file, or does not fit the memory.
    """
    try:
        with open(file, "rb") as stream:
            _check_header(stream)
            stream.seek(0)
            return np.load(stream, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{name}: {file}: {error.strerror or error}") from None
    except MemoryError as error:
        raise InputError(f"{name}: {file} does not fit this machine's memory: {error}") from None
    except (ValueError, EOFError, OverflowError, TypeError) as error:
        said = " ".join(str(error).split())
        raise InputError(f"{name}: {file} is no .npy file: {said}") from None


#: How the header of each version of the format is read. Version 3 is for names of fields beyond Latin-1.
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

#: What reading a header raises besides `ValueError` where it is malformed: it is an expression of Python.
_MALFORMED = (MemoryError, OverflowError, RecursionError, SyntaxError, TokenError, TypeError)


def _check_header(stream: BinaryIO) -> None:
    """Checks that the bytes after the header are those that it says: NumPy believes it.

    Raises:
        ValueError: if they are not, or the header is none.
    """
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(
            f"its format has version {version}; expected {' or '.join(map(str, _HEADERS))}"
        )
    try:
        shape, _, dtype = _HEADERS[version](stream)
    except _MALFORMED as error:
        raise ValueError(f"its header is malformed ({type(error).__name__})") from None
    if any(type(extent) is not int or extent < 0 for extent in shape):
        raise ValueError(f"its header has the shape {shape}; expected numbers from 0")
    there, needed = os.fstat(stream.fileno()).st_size - stream.tell(), prod(shape) * dtype.itemsize
    if needed > there and not dtype.hasobject:
        raise ValueError(
            f"its header has the shape {shape} of {dtype}, {needed} bytes, but {there} follow"
        )


def load(name: str, file: str, dtype: np.dtype) -> np.ndarray:
    """An array of the element type that a kernel's argument has.

    Files hold bf16 and 8-bit floats as raw bytes (as NumPy writes them), or any floats as f32, which is
    rounded to nearest even, or widened. What is in f64 is there on purpose or by NumPy's default: nobody
    but the caller knows which, so it is not rounded.

    Raises:
        InputError: if the file cannot be read, or holds other elements.
    """
    array, size = read_npy(name, file), dtype.itemsize
    if dtype in _UNNAMED and array.dtype in (np.dtype(f"V{size}"), np.dtype(f"u{size}")):
        return array.view(dtype)
    if array.dtype == dtype:
        return array
    expected = str(dtype)
    if dtype.kind in "fV":
        if array.dtype == np.float32:
            return array.astype(dtype, order="K")
        if dtype != np.float32:
            narrows = size < np.dtype(np.float32).itemsize
            expected += ", or float32" + (", which is rounded to it" if narrows else "")
        if array.dtype == np.float64:
            expected += "; array.astype(numpy.float32) makes float32 of it"
    raise InputError(f"{name}: {file} has elements of {array.dtype}; expected {expected}")


def save(arrays: Sequence[tuple[str, np.ndarray]]) -> None:
    """Writes arrays to files, all or none; floats that NumPy does not name as f32, which holds them
    exactly.

    Raises:
        InputError: if one cannot be written.
    """
    write_all([(file, _npy(array)) for file, array in arrays])


def _npy(array: np.ndarray) -> bytes:
    """The bytes of a file that holds an array."""
    data = io.BytesIO()
    np.save(data, array.astype(np.float32) if array.dtype in _UNNAMED else array)
    return data.getvalue()
