"""Arrays of other packages (PyTorch, CuPy, JAX, ...) on the GPU, as kernels address them."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .arguments import DTYPES, Matrix
from .errors import LaunchError

#: MLIR's name of each element type; the first of several.
_NAMES: dict[np.dtype | str, str] = {dtype: name for name, dtype in reversed(DTYPES.items())}


@dataclass(frozen=True)
class DeviceArray:
    """An array in a GPU's memory.

    Attributes:
        matrix: its address, shape and strides.
        dtype: its element type; a name where NumPy lacks the type.
        device: the number of the GPU.
    """

    matrix: Matrix
    dtype: np.dtype | str
    device: int

    @property
    def element(self) -> str:
        """Return MLIR's name of the element type; the array's own name if no MLIR type fits."""
        return _NAMES.get(self.dtype) or str(self.dtype)


def device_array(name: str, array: Any) -> DeviceArray:
    """Return address, shape, strides and element type of an array in a GPU's memory.

    Args:
        name: the name of the array in messages.
        array: anything with DLPack or the CUDA array interface, or a tensor of PyTorch.

    Raises:
        LaunchError: if it is not in the memory of a GPU.

    Example:
        >>> import torch  # on a GPU
        >>> device_array("A", torch.zeros(64, 32, device="cuda")).matrix.shape  # on a GPU
        (64, 32)
    """
    if isinstance(array, np.ndarray):
        raise LaunchError(
            f"{name} is in host memory; move it to the GPU, or let run_on_gpu copy the arrays"
        )
    try:
        pointer, shape, strides, device = _read_array(array)
    except Exception as error:
        raise LaunchError(f"{name} is not an array on a GPU: {error}") from error
    if device is None:
        raise LaunchError(f"{name} is in host memory; move it to the GPU")
    dtype = _element_type(array.dtype)
    # No kernel takes element types that NumPy lacks, so their size is not used.
    size = dtype.itemsize if isinstance(dtype, np.dtype) else 0
    return DeviceArray(Matrix(pointer, tuple(shape), tuple(strides), size), dtype, device)


def host_array(name: str, array: Any) -> tuple[np.ndarray, str]:
    """Return an array in host memory as one of NumPy, and MLIR's name of its elements.

    Args:
        name: the name of the array in messages.
        array: an array of NumPy, a tensor of PyTorch, or what `numpy.asarray` takes. What NumPy can only
            copy, such as a number or a list, becomes a read-only array: a write would be lost.

    Raises:
        LaunchError: if it is not in the memory of the host.
    """
    if hasattr(array, "data_ptr"):
        if array.device.type != "cpu":
            raise LaunchError(f"{name} is on {array.device}; the emulator takes arrays of the host")
        torch = sys.modules["torch"]
        # PyTorch gives NumPy no element types of ml_dtypes.
        raw = getattr(torch, {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[array.itemsize])
        host = array.detach().view(raw).numpy()
        dtype = _element_type(array.dtype)
        host = host.view(dtype) if isinstance(dtype, np.dtype) else host
    else:
        host = np.asarray(array)
        dtype = host.dtype
        # Two copies that are both alive have two addresses.
        if np.asarray(array).ctypes.data != host.ctypes.data:
            host.flags.writeable = False
    return host, _NAMES.get(dtype) or str(dtype)


def matrix_of(argument: Mapping[str, Any], array: Any, device: int) -> Matrix:
    """Return an array as the kernel addresses it.

    Args:
        argument: the argument's entry in the manifest.
        array: anything that `device_array` takes.
        device: the number of the GPU that the kernel is on.

    Raises:
        LaunchError: if it is not in the memory of that GPU, or has another element type.
    """
    name = argument["name"]
    on_device = device_array(name, array)
    if on_device.device != device:
        raise LaunchError(f"{name} is on GPU {on_device.device}, but the kernel is on GPU {device}")
    expected = DTYPES.get(argument["element"])
    if expected is None or on_device.dtype != expected:
        raise LaunchError(
            f"{name} has elements of {on_device.dtype}; expected {argument['element']}"
        )
    return on_device.matrix


def _read_array(array: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """Return pointer, shape, strides (elements) and GPU of an array; the GPU is None for host memory."""
    if hasattr(array, "data_ptr"):
        return _read_torch(array)
    if hasattr(array, "unsafe_buffer_pointer"):
        return _read_jax(array)
    return _read_protocol(array)


def _read_torch(tensor: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """Read a tensor of PyTorch.

    PyTorch's DLPack refuses tensors that require gradients, and those of 8-bit floats before
    DLPack 1.1; its CUDA array interface has neither these nor bf16."""
    if tensor.is_neg():
        raise ValueError("its memory holds the negated values; call resolve_neg()")
    device = tensor.device.index if tensor.device.type == "cuda" else None
    return tensor.data_ptr(), tensor.shape, tensor.stride(), device


def _read_jax(array: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """Read an array of JAX, which is dense.

    JAX's DLPack takes -1, which means "no stream", for a stream, and fails (JAX 0.11)."""
    (owner,) = array.devices()
    device = owner.local_hardware_id if owner.platform in ("gpu", "cuda") else None
    return array.unsafe_buffer_pointer(), array.shape, _contiguous_strides(array.shape), device


def _read_protocol(array: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """Read an array with DLPack or the CUDA array interface."""
    from cuda.core.utils import StridedMemoryView

    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    device = view.device_id if view.is_device_accessible else None
    strides = _contiguous_strides(view.shape) if view.strides is None else view.strides
    return view.ptr, view.shape, strides, device


@lru_cache(maxsize=64)
def _element_type(dtype: Any) -> np.dtype | str:
    """Return the element type with an array's dtype name; cuda-core's view does not know 8-bit floats.

    ml_dtypes registers the names of its floats with NumPy, and PyTorch's names are the same."""
    name = str(dtype).removeprefix("torch.")
    try:
        return np.dtype(name)
    except TypeError:
        return name


def _contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides, size = [], 1
    for extent in reversed(shape):
        strides.append(size)
        size *= extent
    return tuple(reversed(strides))
