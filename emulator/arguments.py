"""Arguments of a launch: arrays are copied to global memory, and back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..bindings.mlir import ir
from .errors import EmulationError
from .memory import GlobalAddressSpace
from .types import dtype_of, unsigned_dtype
from .values import MemRef


def number(value: int) -> np.ndarray:
    """Return an integer that is the same for all threads, such as an address or an extent."""
    return np.array([value], np.int64)


def static_memref(type_: Any, address: np.ndarray) -> MemRef:
    """Return a memref of a static type at an address."""
    strides, offset = type_.get_strides_and_offset()
    return MemRef(
        address,
        number(offset),
        tuple(number(extent) for extent in type_.shape),
        tuple(number(stride) for stride in strides),
    )


class Arguments:
    """The arguments of one launch.

    Arrays that begin at one address share their memory, as on a GPU: a kernel may read C through one
    argument and write it through another. Arrays that overlap otherwise are separate.

    Args:
        memory: global memory.
        arguments: arrays and numbers.
    """

    def __init__(self, memory: GlobalAddressSpace, arguments: Sequence[Any]) -> None:
        self._memory = memory
        self._buffers: dict[Hashable, np.ndarray] = {}
        self._addresses: dict[Hashable, int] = {}
        self._copies: list[tuple[int, np.ndarray, np.ndarray]] = []
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        for array in arrays:
            buffer, _ = strided_copy(array)
            key = _memory_key(array)
            if key not in self._buffers or buffer.nbytes > self._buffers[key].nbytes:
                self._buffers[key] = buffer
        for array in arrays:
            _view_in_buffer(array, self._buffers[_memory_key(array)])[...] = array

    def value(self, position: int, type_: Any, argument: Any) -> Any:
        """Return an argument as a value of the kernel.

        Raises:
            EmulationError: if the argument does not fit its type.
        """
        name = f"argument {position}"
        if not hasattr(type_, "get_strides_and_offset"):
            return _scalar(name, type_, argument)
        if not isinstance(argument, np.ndarray):
            raise EmulationError(f"{name} is {argument}; expected an array for {type_}")
        key = _memory_key(argument)
        copy = _view_in_buffer(argument, self._buffers[key])
        if key not in self._addresses:
            self._addresses[key] = self._memory.add(name, self._buffers[key])
        address = self._addresses[key]
        self._copies.append((address, copy, argument))
        _check_array(name, type_, copy)
        strides = tuple(number(stride // copy.itemsize) for stride in copy.strides)
        return MemRef(number(address), number(0), tuple(map(number, copy.shape)), strides)

    def read_back(self) -> None:
        """Copy arrays that the kernel has changed back to the host.

        Raises:
            EmulationError: if the kernel has written to a read-only array.
        """
        for address, copy, array in self._copies:
            current = _view_in_buffer(array, self._memory.bytes_at(address))
            if copy.tobytes() == current.tobytes():
                continue
            if not array.flags.writeable:
                raise EmulationError("the kernel writes to an array that is read-only")
            array[...] = current


def strided_copy(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Copy an array with its strides, including those of dimensions of one element.

    If a stride is negative, or not a multiple of the element's size, which no memref has, the copy is
    contiguous instead, in the order of the memory.

    Returns:
        uint8[bytes], from the first byte of the first element to the last byte of the last; and the
        array, which is a view of it.
    """
    size = array.itemsize
    strides = _memref_strides(array)
    if strides is None:
        return strided_copy(array.copy(order="K"))
    last = sum((extent - 1) * s for extent, s in zip(array.shape, strides, strict=True))
    buffer = np.zeros(last + size if array.size else 0, np.uint8)
    copy = np.ndarray(array.shape, array.dtype, buffer, strides=strides)
    copy[...] = array
    return buffer, copy


def _memref_strides(array: np.ndarray) -> tuple[int, ...] | None:
    """Return the strides in bytes; None if one is negative, or no multiple of the element's size. Such a
    stride of a dimension of one element is replaced by the element's size."""
    size = array.itemsize
    fits = [stride >= 0 and stride % size == 0 for stride in array.strides]
    if any(extent > 1 and not fit for extent, fit in zip(array.shape, fits, strict=True)):
        return None
    return tuple(s if fit else size for s, fit in zip(array.strides, fits, strict=True))


def _memory_key(array: np.ndarray) -> Hashable:
    """Return a key that is equal for arrays that share memory: the address. An array with strides that no
    memref has shares none."""
    return array.ctypes.data if _memref_strides(array) is not None else ("alone", id(array))


def _view_in_buffer(array: np.ndarray, buffer: np.ndarray) -> np.ndarray:
    """View a buffer with the shape and the strides of an array; see `strided_copy`."""
    strides = _memref_strides(array)
    if strides is None:
        strides = array.copy(order="K").strides
    return np.ndarray(array.shape, array.dtype, buffer, strides=strides)


def _scalar(name: str, type_: Any, argument: Any) -> np.ndarray:
    dtype = dtype_of(type_)
    if isinstance(argument, np.ndarray):
        raise EmulationError(f"{name} is of type {type_}, not an array")
    if not isinstance(argument, int | float | np.generic):
        raise EmulationError(f"{name} is {argument}; expected a number of type {type_}")
    return np.array([argument]).astype(dtype)


def _check_array(name: str, type_: Any, array: np.ndarray) -> None:
    """Check that an array has the elements, extents and strides of a memref type."""
    if array.ndim != type_.rank or unsigned_dtype(array.dtype) != dtype_of(type_.element_type):
        raise EmulationError(
            f"{name} is {array.dtype} of {array.ndim} dimensions; expected an array for {type_}"
        )
    unknown = ir.ShapedType.get_dynamic_size()
    if any(s not in (unknown, n) for s, n in zip(type_.shape, array.shape, strict=True)):
        raise EmulationError(f"{name} is {list(array.shape)}; expected an array for {type_}")
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    strides = [stride // array.itemsize for stride in array.strides]
    expected, _ = type_.get_strides_and_offset()
    for extent, expected_stride, stride in zip(array.shape, expected, strides, strict=True):
        if extent > 1 and array.size and expected_stride not in (unknown, stride):
            raise EmulationError(f"{name} has the strides {strides}; expected those of {type_}")
