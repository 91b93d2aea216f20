"""Arrays in `.npy` files, including element types without a name in NumPy's format."""

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

#: Floats without a name in NumPy's format: files contain their raw bytes.
_UNNAMED = (
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn),
    np.dtype(ml_dtypes.float8_e5m2),
    np.dtype(ml_dtypes.float8_e8m0fnu),
)


def read_npy(name: str, file: str) -> np.ndarray:
    """Return the array in a file, with the file's element type.

    Raises:
        InputError: if the file cannot be read, is not a `.npy` file, or does not fit in memory.
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
        problem = " ".join(str(error).split())
        raise InputError(f"{name}: {file} is not a .npy file: {problem}") from None


#: The reader of the header, by format version. Version 3 is for field names outside Latin-1.
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

#: Exceptions other than `ValueError` for a malformed header, which is a Python expression.
_MALFORMED = (MemoryError, OverflowError, RecursionError, SyntaxError, TokenError, TypeError)


def _check_header(stream: BinaryIO) -> None:
    """Check the size of the data against the header; NumPy does not.

    Raises:
        ValueError: if the header is malformed, or the data are smaller than it says.
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
    available, needed = (
        os.fstat(stream.fileno()).st_size - stream.tell(),
        prod(shape) * dtype.itemsize,
    )
    if needed > available and not dtype.hasobject:
        raise ValueError(
            f"its header has the shape {shape} of {dtype}, {needed} bytes, but {available} follow"
        )


def load(name: str, file: str, dtype: np.dtype) -> np.ndarray:
    """Load an array with the element type of a kernel's argument.

    Files contain bf16 and 8-bit floats as raw bytes (as NumPy writes them), or any floats as f32, which
    is rounded to nearest even, or widened. f64 is rejected: it may be on purpose or NumPy's default, so
    it is not rounded silently.

    Raises:
        InputError: if the file cannot be read, or has another element type.
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
            expected += "; array.astype(numpy.float32) converts it"
    raise InputError(f"{name}: {file} has elements of {array.dtype}; expected {expected}")


def save(arrays: Sequence[tuple[str, np.ndarray]]) -> None:
    """Write arrays to files, all or none.

    Floats without a name in NumPy's format are widened to f32.

    Raises:
        InputError: if a file cannot be written.
    """
    write_all([(file, _npy(array)) for file, array in arrays])


def _npy(array: np.ndarray) -> bytes:
    """Return the bytes of a `.npy` file of an array."""
    data = io.BytesIO()
    np.save(data, array.astype(np.float32) if array.dtype in _UNNAMED else array)
    return data.getvalue()
