"""Readers of arrays: the address of an array, and its signature, at each call.

The reader of an array is found by its class, once. The signature is all that the checks of an array
depend on, except for its address. So arrays of equal signatures are checked once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from .arguments import Matrix

#: Returns the address of an array and its signature.
Reader = Callable[[Any], tuple[int, Hashable]]


def _read_matrix(matrix: Matrix) -> tuple[int, Hashable]:
    return matrix.pointer, (matrix.shape, matrix.strides, matrix.item_bytes)


def _read_torch(tensor: Any) -> tuple[int, Hashable]:
    memory = tensor.device, tensor.is_neg()
    return tensor.data_ptr(), (tensor.dtype, tensor.shape, tensor.stride(), memory)


def _read_jax(array: Any) -> tuple[int, Hashable]:
    # The sharding says which GPU holds it; it costs a quarter of `devices()`.
    return array.unsafe_buffer_pointer(), (array.dtype, array.shape, array.sharding)


def _read_cupy(array: Any) -> tuple[int, Hashable]:
    memory = array.data
    return memory.ptr, (array.dtype, array.shape, array.strides, memory.device_id)


def _read_protocol(array: Any) -> tuple[int, Hashable]:
    """Read an array with DLPack or the CUDA array interface."""
    from cuda.core.utils import StridedMemoryView

    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    strides = None if view.strides is None else tuple(view.strides)
    memory = view.device_id, view.is_device_accessible
    return view.ptr, (str(array.dtype), tuple(view.shape), strides, memory)


_BY_CLASS: dict[type, Reader] = {Matrix: _read_matrix}


def reader(cls: type) -> Reader:
    """Return the reader of a class of arrays."""
    return _BY_CLASS.get(cls) or _find(cls)


def _find(cls: type) -> Reader:
    if issubclass(cls, Matrix):
        read = _read_matrix
    elif hasattr(cls, "data_ptr"):
        read = _read_torch
    elif hasattr(cls, "unsafe_buffer_pointer"):
        read = _read_jax
    elif cls.__module__.partition(".")[0] == "cupy":
        read = _read_cupy
    else:
        read = _read_protocol
    _BY_CLASS[cls] = read
    return read
