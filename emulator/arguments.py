"""Arguments of a launch: arrays are copied to global memory, and back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..bindings.mlir import ir
from .errors import EmulationError
from .memory import GlobalMemory
from .strided import strided_copy, usual_strides
from .types import dtype_of, unsigned
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

    Arrays that begin at one address share their memory, as on a GPU: a kernel may read C by another
    argument than the one that it writes it by. Arrays that overlap otherwise are apart.

    Args:
        memory: global memory.
        arguments: arrays and numbers.
    """

    def __init__(self, memory: GlobalMemory, arguments: Sequence[Any]) -> None:
        self._memory = memory
        self._held: dict[Hashable, np.ndarray] = {}
        self._addresses: dict[Hashable, int] = {}
        self._placed: list[tuple[int, np.ndarray, np.ndarray]] = []
        arrays = [each for each in arguments if isinstance(each, np.ndarray)]
        for array in arrays:
            held, _ = strided_copy(array)
            begin = _begin(array)
            if begin not in self._held or held.nbytes > self._held[begin].nbytes:
                self._held[begin] = held
        for array in arrays:
            _within(array, self._held[_begin(array)])[...] = array

    def value(self, position: int, type_: Any, given: Any) -> Any:
        """Return an argument as a value of the kernel.

        Raises:
            EmulationError: if the argument does not fit its type.
        """
        name = f"argument {position}"
        if not hasattr(type_, "get_strides_and_offset"):
            return _scalar(name, type_, given)
        if not isinstance(given, np.ndarray):
            raise EmulationError(f"{name} is {given}; expected an array for {type_}")
        begin = _begin(given)
        copied = _within(given, self._held[begin])
        if begin not in self._addresses:
            self._addresses[begin] = self._memory.add(name, self._held[begin])
        address = self._addresses[begin]
        self._placed.append((address, copied, given))
        _check_array(name, type_, copied)
        strides = tuple(number(stride // copied.itemsize) for stride in copied.strides)
        return MemRef(number(address), number(0), tuple(map(number, copied.shape)), strides)

    def read_back(self) -> None:
        """Copy what the kernel has changed in global memory to the arrays.

        Raises:
            EmulationError: if the kernel has written to a read-only array.
        """
        for address, before, array in self._placed:
            now = _within(array, self._memory.at(address))
            if before.tobytes() == now.tobytes():
                continue
            if not array.flags.writeable:
                raise EmulationError("the kernel writes to an array that is read-only")
            array[...] = now


def _begin(array: np.ndarray) -> Hashable:
    """Return what arrays have in common that share memory: the address; one with strides that no memref
    has shares none."""
    return array.ctypes.data if usual_strides(array) is not None else ("alone", id(array))


def _within(array: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return the view of bytes that an array is of its memory; see `strided_copy`."""
    strides = usual_strides(array)
    if strides is None:
        strides = array.copy(order="K").strides
    return np.ndarray(array.shape, array.dtype, held, strides=strides)


def _scalar(name: str, type_: Any, given: Any) -> np.ndarray:
    dtype = dtype_of(type_)
    if isinstance(given, np.ndarray):
        raise EmulationError(f"{name} is of type {type_}, not an array")
    if not isinstance(given, int | float | np.generic):
        raise EmulationError(f"{name} is {given}; expected a number of type {type_}")
    return np.array([given]).astype(dtype)


def _check_array(name: str, type_: Any, given: np.ndarray) -> None:
    """Check that an array has the elements, extents and strides of a memref type."""
    if given.ndim != type_.rank or unsigned(given.dtype) != dtype_of(type_.element_type):
        raise EmulationError(
            f"{name} is {given.dtype} of {given.ndim} dimensions; expected an array for {type_}"
        )
    unknown = ir.ShapedType.get_dynamic_size()
    if any(s not in (unknown, n) for s, n in zip(type_.shape, given.shape, strict=True)):
        raise EmulationError(f"{name} is {list(given.shape)}; expected an array for {type_}")
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    strides = [stride // given.itemsize for stride in given.strides]
    expected, _ = type_.get_strides_and_offset()
    for extent, wanted, stride in zip(given.shape, expected, strides, strict=True):
        if extent > 1 and given.size and wanted not in (unknown, stride):
            raise EmulationError(f"{name} has the strides {strides}; expected those of {type_}")
