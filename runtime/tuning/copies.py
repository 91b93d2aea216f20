"""Copies of the arrays of a call, which launches write instead while they are measured."""

from __future__ import annotations

from typing import Any

from ..arrays import device_array
from ..errors import LaunchError
from ..streams import exposes_no_stream, wait_for

#: Bytes to a multiple of which the GPU's memory begins.
_ALIGNMENT = 256


class DeviceCopy:
    """A copy of an array on a GPU, with its strides and alignment; kernels take it as an array.

    Args:
        name: of the array in messages.
        array: anything that `device_array` takes, on the current GPU, whose work ends before.

    Attributes:
        shape: its extents.
        dtype: its element type, of the array's library.

    Raises:
        LaunchError: if it is not on a GPU, or there is no memory for the copy.
    """

    def __init__(self, name: str, array: Any) -> None:
        import cuda.bindings.driver as driver

        if exposes_no_stream(array):
            wait_for(array)
        matrix = device_array(name, array).matrix
        size = self._item_bytes = matrix.item_bytes
        self._name = name
        self.shape, self.dtype = tuple(matrix.shape), array.dtype
        self._strides = tuple(stride * size for stride in matrix.strides)
        steps = [(n - 1) * stride for n, stride in zip(self.shape, self._strides, strict=True)]
        before = -sum(min(step, 0) for step in steps)
        self._bytes = 0 if 0 in self.shape else sum(map(abs, steps)) + size
        self._driver, self._source = driver, matrix.pointer - before
        self._do("cuCtxSynchronize")
        self._memory = self._do("cuMemAlloc", self._bytes + _ALIGNMENT)
        self._target = int(self._memory) + self._source % _ALIGNMENT
        self._pointer = self._target + before
        self.restore()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array with unsigned elements: the interface has neither bf16 nor 8-bit floats."""
        return {
            "version": 3,
            "shape": self.shape,
            "strides": self._strides,
            "typestr": f"<u{self._item_bytes}",
            "data": (self._pointer, False),
        }

    def restore(self, stream: int = 0) -> None:
        """Copy the array's elements again, in the order of a stream."""
        if self._bytes:
            self._do("cuMemcpyDtoDAsync", self._target, self._source, self._bytes, stream)

    def close(self) -> None:
        """Free the memory."""
        # Errors are ignored: after a failed kernel every call fails, and the context is lost.
        self._driver.cuMemFree(self._memory)

    def _do(self, call: str, *arguments: Any) -> Any:
        error, *results = getattr(self._driver, call)(*arguments)
        if error != self._driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(
                f"configurations are measured on copies, but {call} for {self._name}, "
                f"{self._bytes} bytes, fails: {error.name}"
            )
        return results[0] if results else None
