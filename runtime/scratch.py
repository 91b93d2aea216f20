"""Scratch memory of kernels on a GPU: zeros at first, and kept for the launches of a stream."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable
from typing import Any

from .errors import LaunchError


class DeviceMemory:
    """Zeroed memory of a GPU, freed with the object.

    It can be allocated while a stream is captured into a CUDA graph, and is no part of the graph.

    Args:
        context: the GPU's `CUcontext`.
        size: bytes.

    Attributes:
        address: of its first byte, a multiple of 256.
        size: bytes.

    Raises:
        LaunchError: if it cannot be allocated.

    Example:
        >>> from cuda.bindings import driver  # on a GPU
        >>> _, context = driver.cuCtxGetCurrent()  # on a GPU
        >>> DeviceMemory(context, 1024).address % 256  # on a GPU
        0
    """

    def __init__(self, context: Any, size: int) -> None:
        import cuda.bindings.driver as driver

        self._driver, self._context, self.size = driver, context, size
        self._do("cuCtxPushCurrent", context)
        try:
            # Otherwise the driver refuses allocations while any stream is captured.
            relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
            mode = self._do("cuThreadExchangeStreamCaptureMode", relaxed)
            try:
                self._allocate()
            finally:
                self._do("cuThreadExchangeStreamCaptureMode", mode)
        finally:
            driver.cuCtxPopCurrent()

    def _allocate(self) -> None:
        """Allocate the memory and set it to zero, on a stream of its own: no capture sees that."""
        driver = self._driver
        self.address = int(self._do("cuMemAlloc", self.size))
        # At the end of the process the memory is freed anyway, and the driver may be gone before.
        weakref.finalize(self, _free, driver, self._context, self.address).atexit = False
        flags = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        stream = self._do("cuStreamCreate", flags)
        self._do("cuMemsetD8Async", self.address, 0, self.size, stream)
        self._do("cuStreamSynchronize", stream)
        driver.cuStreamDestroy(stream)

    def _do(self, call: str, *arguments: Any) -> Any:
        error, *results = getattr(self._driver, call)(*arguments)
        if error != self._driver.CUresult.CUDA_SUCCESS:
            raise LaunchError(
                f"the GPU has no {self.size} bytes for a kernel's scratch memory: {call}: {error.name}"
            )
        return results[0] if results else None


def _free(driver: Any, context: Any, address: int) -> None:
    # Errors are ignored: the context may be gone. The driver waits for kernels that use the memory.
    driver.cuCtxPushCurrent(context)
    driver.cuMemFree(address)
    driver.cuCtxPopCurrent()


class Scratch:
    """The scratch memory of kernels of one kind, for each stream.

    Kernels of one stream run one after the other, and share it; each leaves the bytes that it needs
    zeroed as zeros. A larger request makes new memory. The old is kept: a CUDA graph may hold its
    address.

    Example:
        >>> from cuda.bindings import driver  # on a GPU
        >>> _, context = driver.cuCtxGetCurrent()  # on a GPU
        >>> scratch = Scratch()  # on a GPU
        >>> scratch.address(context, 1, 1000) == scratch.address(context, 1, 500)  # on a GPU
        True
    """

    def __init__(self) -> None:
        self._newest: dict[Hashable, DeviceMemory] = {}
        self._older: list[DeviceMemory] = []
        self._lock = threading.Lock()

    def address(self, context: Any, stream: int, size: int) -> int:
        """Return the address of at least `size` bytes.

        Args:
            context: the GPU's `CUcontext`.
            stream: the stream's handle.
            size: bytes.

        Raises:
            LaunchError: if there is no memory.
        """
        key = int(context), stream
        memory = self._newest.get(key)
        if memory is None or memory.size < size:
            with self._lock:
                memory = self._newest.get(key)
                if memory is None or memory.size < size:
                    memory = self._enlarge(key, context, size)
        return memory.address

    def _enlarge(self, key: Hashable, context: Any, size: int) -> DeviceMemory:
        previous = self._newest.get(key)
        # Twice as large at least, so that all memory of a stream is at most twice the newest.
        memory = DeviceMemory(context, max(size, 2 * previous.size if previous else 0))
        if previous is not None:
            self._older.append(previous)
        self._newest[key] = memory
        return memory
