"""Machines that run host programs: a GPU, or the emulator."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from math import prod
from typing import Any, Protocol

import numpy as np

from ..codegen import Compiled
from ..kernels.libraries import empty
from ..runtime import Kernel, LaunchError, Matrix, device_array, launch_on_cpu
from ..runtime.arguments import DTYPES
from ..runtime.arrays import host_array
from ..runtime.devices import preserve_current_device
from ..runtime.prepared import stream_handle
from ..runtime.readers import reader
from ..runtime.streams import current_stream, finish, library, wait_for


class Machine(Protocol):
    """Memory and kernels of one call of a program."""

    def read(self, name: str, array: Any) -> tuple[Matrix, str]:
        """Return the address, extents and strides of a caller's array, and its element type in MLIR.

        Raises:
            LaunchError: if it is not in the machine's memory.
        """
        ...

    def allocate(self, size: int) -> tuple[int, Any]:
        """Return the address of new memory of `size` bytes, and the array that owns it."""
        ...

    def view(self, owner: Any, begin: int, matrix: Matrix, element: str) -> Any:
        """Return a part of memory as an array of the caller's library.

        Args:
            owner: the array that owns the memory.
            begin: its address.
            matrix: address, extents and strides of the part.
            element: MLIR's name of the element type.
        """
        ...

    def launch(
        self, kernel: Compiled, entry: str, arguments: Sequence[Any], grid: Sequence[int]
    ) -> None:
        """Start a kernel, whose arrays are given as matrices."""
        ...

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy bytes from one address to another."""
        ...

    def finish(self) -> None:
        """End a call: the caller's library sees the results."""
        ...


class CpuMachine:
    """The memory of the host, and the emulator.

    Args:
        arrays: the arrays of the call; results are of the library of the first.
    """

    def __init__(self, arrays: Sequence[Any]) -> None:
        self._library = library(arrays[0]) if arrays else "numpy"
        # Some arrays are copies; this list keeps them alive.
        self._arrays: list[tuple[str, Matrix, np.ndarray]] = []

    def read(self, name: str, array: Any) -> tuple[Matrix, str]:
        host, element = host_array(name, array)
        strides = tuple(stride // host.itemsize for stride in host.strides)
        matrix = Matrix(host.ctypes.data, host.shape, strides, host.itemsize)
        self._arrays.append((name, matrix, host))
        return matrix, element

    def allocate(self, size: int) -> tuple[int, Any]:
        memory = np.zeros(max(size, 1), np.uint8)
        return memory.ctypes.data, memory

    def view(self, owner: Any, begin: int, matrix: Matrix, element: str) -> Any:
        array = _at(matrix, element)
        # NumPy keeps memory alive only through an array's base.
        array_view = np.lib.stride_tricks.as_strided(
            np.frombuffer(owner, array.dtype, 1 if array.size else 0, matrix.pointer - begin),
            array.shape,
            array.strides,
        )
        return to_torch(array_view) if self._library == "torch" else array_view

    def launch(
        self, kernel: Compiled, entry: str, arguments: Sequence[Any], grid: Sequence[int]
    ) -> None:
        (kernel_manifest,) = (k for k in kernel.manifest["kernels"] if k["entry"] == entry)
        arrays = [
            self._kernel_array(argument, parameter["element"])
            if isinstance(argument, Matrix)
            else argument
            for argument, parameter in zip(arguments, kernel_manifest["arguments"], strict=True)
        ]
        launch_on_cpu(kernel, entry, arrays, grid)

    def copy(self, target: int, source: int, size: int) -> None:
        name = self._read_only(target)
        if size and name is not None:
            raise LaunchError(f"the program writes to {name}, which is read-only")
        ctypes.memmove(target, source, size)

    def _kernel_array(self, matrix: Matrix, element: str) -> np.ndarray:
        """Return memory as an array that is read-only where the caller's array is."""
        array = _at(matrix, element)
        array.flags.writeable = self._read_only(matrix.pointer) is None
        return array

    def _read_only(self, pointer: int) -> str | None:
        """Return the name of the read-only array that has an address; None if it may be written."""
        owners = [
            (host.flags.writeable, name)
            for name, matrix, host in self._arrays
            if matrix.pointer <= pointer < matrix.pointer + _extent(matrix)
        ]
        return owners[0][1] if owners and not any(writable for writable, _ in owners) else None

    def finish(self) -> None:
        pass


class GpuMachine:
    """The memory of a GPU, and its kernels.

    A call is enqueued on the current stream of the arrays' library.

    Args:
        arrays: the arrays of the call, all on one GPU; new ones are of the library of the first.
        loaded: kernels of earlier calls.

    Raises:
        LaunchError: if there is no array, or none on a GPU.
    """

    def __init__(self, arrays: Sequence[Any], loaded: dict[tuple[int, int, str], Kernel]) -> None:
        if not arrays:
            raise LaunchError("the program takes no array, so nothing says on which GPU it runs")
        self._like, self._loaded, self._arrays = arrays[0], loaded, list(arrays)
        self._device = device_array("the first array", arrays[0]).device
        for array in arrays:
            wait_for(array)
        self._stream = stream_handle(current_stream(arrays[0]))

    def read(self, name: str, array: Any) -> tuple[Matrix, str]:
        on_device = device_array(name, array)
        if on_device.device != self._device:
            raise LaunchError(
                f"{name} is on GPU {on_device.device}, but the first array is on GPU {self._device}"
            )
        return on_device.matrix, on_device.element

    def allocate(self, size: int) -> tuple[int, Any]:
        memory = empty(self._like, (max(size, 1),), "ui8", "memory of the program")
        return reader(type(memory))(memory)[0], memory

    def view(self, owner: Any, begin: int, matrix: Matrix, element: str) -> Any:
        offset = matrix.pointer - begin
        match library(owner):
            case "torch":
                return _torch_view(owner, offset, matrix, element)
            case "cupy":
                strides = tuple(stride * matrix.item_bytes for stride in matrix.strides)
                memory = owner.data + offset
                dtype = DTYPES[element]
                return sys.modules["cupy"].ndarray(matrix.shape, dtype, memory, strides=strides)
            case _:
                return _jax_copy(owner, offset, matrix, element)

    def launch(
        self, kernel: Compiled, entry: str, arguments: Sequence[Any], grid: Sequence[int]
    ) -> None:
        key = (self._device, id(kernel), entry)
        if key not in self._loaded:
            with preserve_current_device():
                self._loaded[key] = Kernel(kernel, entry, self._device)
        self._loaded[key].launch(*arguments, grid=grid, stream=self._stream)

    def copy(self, target: int, source: int, size: int) -> None:
        import cuda.bindings.driver as driver

        (error,) = driver.cuMemcpyAsync(target, source, size, self._stream)
        if error != driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(f"a copy of {size} bytes failed: {error.name}")

    def finish(self) -> None:
        finish(self._like)


def _extent(matrix: Matrix) -> int:
    """Return the bytes from the first element to the end of the last; strides are 0 or more."""
    if not prod(matrix.shape):
        return 0
    last_offsets = (
        (n - 1) * stride for n, stride in zip(matrix.shape, matrix.strides, strict=True)
    )
    return (sum(last_offsets) + 1) * matrix.item_bytes


def _at(matrix: Matrix, element: str) -> np.ndarray:
    """Return the memory at an address as an array."""
    strides = [stride * matrix.item_bytes for stride in matrix.strides]
    buffer: Any = (ctypes.c_char * _extent(matrix)).from_address(matrix.pointer)
    return np.ndarray(matrix.shape, DTYPES[element], buffer, strides=strides)


def to_torch(array: np.ndarray) -> Any:
    """Return a NumPy array as a tensor; PyTorch takes no element types of ml_dtypes."""
    torch = sys.modules["torch"]
    raw = torch.from_numpy(array.view(f"i{array.itemsize}"))
    return raw.view(getattr(torch, array.dtype.name))


def _torch_view(owner: Any, offset: int, matrix: Matrix, element: str) -> Any:
    torch = sys.modules["torch"]
    whole = owner.untyped_storage()
    tensor = torch.empty(0, dtype=getattr(torch, DTYPES[element].name), device=owner.device)
    begin = owner.storage_offset() * owner.element_size() + offset
    return tensor.set_(whole, begin // matrix.item_bytes, matrix.shape, matrix.strides)


def _jax_copy(owner: Any, offset: int, matrix: Matrix, element: str) -> Any:
    """Copy a dense part of memory on the GPU to an array of JAX, which has no views."""
    import jax

    size = prod(matrix.shape) * matrix.item_bytes
    part = owner[offset : offset + size].reshape(*matrix.shape, matrix.item_bytes)
    raw_bytes = part if matrix.item_bytes > 1 else part[..., 0]
    return jax.lax.bitcast_convert_type(raw_bytes, DTYPES[element])
