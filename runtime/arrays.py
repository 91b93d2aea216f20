"""Arrays of other packages (PyTorch, CuPy, JAX, ...) on the GPU, as kernels see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .arguments import DTYPES, Matrix
from .errors import LaunchError

#: MLIR's name of each element type; of several, the first.
_NAMES: dict[np.dtype | str, str] = {dtype: name for name, dtype in reversed(DTYPES.items())}


@dataclass(frozen=True)
class Seen:
    """An array in a GPU's memory.

    Attributes:
        matrix: where it lies, its shape and strides.
        dtype: its element type; a name where NumPy has none.
        device: the number of the GPU.
    """

    matrix: Matrix
    dtype: np.dtype | str
    device: int

    @property
    def element(self) -> str:
        """MLIR's name of the element type; the array's own where MLIR has none of these."""
        return _NAMES.get(self.dtype) or str(self.dtype)


def seen(name: str, array: Any) -> Seen:
    """An array of another package as it lies in a GPU's memory.

    Args:
        name: what messages call it.
        array: anything with DLPack or the CUDA array interface, or a tensor of PyTorch.

    Raises:
        LaunchError: if it is not in the memory of a GPU.
    """
    if isinstance(array, np.ndarray):
        raise LaunchError(
            f"{name} is in host memory; move it to the GPU, or let run_on_gpu copy the arrays"
        )
    try:
        pointer, shape, strides, where = _look(array)
    except Exception as error:
        raise LaunchError(f"{name} is not an array on a GPU: {error}") from error
    if where is None:
        raise LaunchError(f"{name} is in host memory; move it to the GPU")
    dtype = _element(array.dtype)
    # No kernel takes elements that NumPy has no name for, so their size does not matter.
    size = dtype.itemsize if isinstance(dtype, np.dtype) else 0
    return Seen(Matrix(pointer, tuple(shape), tuple(strides), size), dtype, where)


def matrix_of(argument: Mapping[str, Any], array: Any, device: int) -> Matrix:
    """An array as the kernel sees it.

    Args:
        argument: what the manifest says of the argument.
        array: anything that `seen` takes.
        device: the number of the GPU that the kernel is on.

    Raises:
        LaunchError: if it is not in the memory of that GPU, or holds other elements.
    """
    name = argument["name"]
    found = seen(name, array)
    if found.device != device:
        raise LaunchError(f"{name} is on GPU {found.device}, but the kernel is on GPU {device}")
    wanted = DTYPES.get(argument["element"])
    if wanted is None or found.dtype != wanted:
        raise LaunchError(f"{name} has elements of {found.dtype}; expected {argument['element']}")
    return found.matrix


def _look(array: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """Pointer, shape, strides (elements) and GPU of an array; no GPU of one in host memory."""
    if hasattr(array, "data_ptr"):
        return _seen_by_torch(array)
    if hasattr(array, "unsafe_buffer_pointer"):
        return _seen_by_jax(array)
    return _seen_by_protocol(array)


def _seen_by_torch(tensor: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """What is seen of a tensor of PyTorch.

    Its DLPack refuses tensors that require gradients, and those of 8-bit floats where it is older than
    DLPack 1.1; its CUDA array interface has neither these nor bf16."""
    where = tensor.device.index if tensor.device.type == "cuda" else None
    return tensor.data_ptr(), tensor.shape, tensor.stride(), where


def _seen_by_jax(array: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """What is seen of an array of JAX, which is dense.

    Its DLPack takes the number of no stream for a stream, and fails (JAX 0.11)."""
    (device,) = array.devices()
    where = device.local_hardware_id if device.platform in ("gpu", "cuda") else None
    return array.unsafe_buffer_pointer(), array.shape, _contiguous(array.shape), where


def _seen_by_protocol(array: Any) -> tuple[int, Sequence[int], Sequence[int], int | None]:
    """The same of an array with DLPack or the CUDA array interface."""
    from cuda.core.utils import StridedMemoryView

    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    where = view.device_id if view.is_device_accessible else None
    strides = _contiguous(view.shape) if view.strides is None else view.strides
    return view.ptr, view.shape, strides, where


@lru_cache(maxsize=64)
def _element(dtype: Any) -> np.dtype | str:
    """The element type that an array names; cuda-core's view knows no 8-bit floats.

    ml_dtypes has given NumPy the names of the floats that it lacks, and PyTorch's are the same."""
    name = str(dtype).removeprefix("torch.")
    try:
        return np.dtype(name)
    except TypeError:
        return name


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
