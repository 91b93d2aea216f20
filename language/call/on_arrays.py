"""Calls of a kernel on arrays, `kernel(x, y)`, and with a grid, `kernel[grid](x, y)`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

from ...runtime import LaunchError, Prepared
from .calls import KernelCalls, Traceable

#: The machines that run a kernel.
_MACHINES = ("gpu", "cpu")


class CallableOnArrays:
    """The part of `Kernel` that is called on arrays."""

    @cached_property
    def _calls(self) -> KernelCalls:
        return KernelCalls(cast(Traceable, self))

    def __call__(
        self,
        *arguments: Any,
        on: str = "gpu",
        stream: Any = None,
        arch: str | None = None,
        **constants: Any,
    ) -> None:
        """Run the kernel once; results are in the given arrays.

        Args:
            arguments: for each parameter, an array on one GPU (PyTorch, CuPy, JAX, or anything with
                DLPack or the CUDA array interface), or a number. Extents and strides may differ from
                call to call.
            on: "gpu"; or "cpu" for the emulator, which takes NumPy arrays (with ml_dtypes' elements for
                bf16 and 8-bit floats).
            stream: a stream of cuda-core, an object with `__cuda_stream__`, or a handle. If None, the
                current stream of the library of the first array. JAX hides its streams: a call waits for
                its arrays, and returns after the kernel has ended.
            arch: the architecture that is emulated; sm_90a if None. A GPU has its own.
            constants: the constants of the trace.

        Raises:
            CallError: if the arguments do not fit the kernel, or the GPU.
            TraceError: if the kernel cannot be traced for their element types and the constants.
            Violations: on the emulator, if the kernel breaks a rule of the hardware.

        Example:
            >>> x, y = np.ones((64, 64), np.float32), np.zeros((64, 64), np.float32)
            >>> double(x, y, on="cpu")
            >>> float(y[0, 0])
            2.0
        """
        if on == "gpu" and arch is None:
            self._calls.launch(arguments, constants, None, stream)
        else:
            self._calls.emulate(arguments, constants, None, _emulated_arch(on, stream, arch))

    def __getitem__(self, grid: int | Sequence[int]) -> KernelWithGrid:
        """Return the kernel with a grid of thread blocks along x, y, z, to be called as the kernel is.

        A kernel that declares its grid needs none.

        Raises:
            LaunchError: if the grid is not one to three positive numbers.

        Example:
            >>> x, y = np.ones((128, 64), np.float32), np.zeros((128, 64), np.float32)
            >>> double[1](x, y, on="cpu")
            >>> float(y[63, 0]), float(y[64, 0])
            (2.0, 0.0)
        """
        return KernelWithGrid(self._calls, _grid_tuple(grid))

    def prepare(self, *arguments: Any, **constants: Any) -> Prepared:
        """Return a launch that is checked, compiled and packed, to be started many times.

        It holds the arrays; their elements may change between launches. `launch()` uses the current
        stream of their library at that time. For arrays of JAX, the caller waits for them.

        Args:
            arguments: as for a call on a GPU.
            constants: the constants of the trace.

        Raises:
            CallError, TraceError: as for a call.

        Example:
            >>> import torch  # on a GPU
            >>> a, b = torch.ones(64, 64, device="cuda"), torch.zeros(64, 64, device="cuda")  # on a GPU
            >>> double.prepare(a, b).launch()  # on a GPU
            >>> float(b[0, 0])  # on a GPU
            2.0
        """
        return self._calls.prepare(arguments, constants, None)


class KernelWithGrid:
    """A kernel with a grid, `kernel[grid]`; it is called as the kernel is."""

    __slots__ = ("_calls", "_grid")

    def __init__(self, calls: KernelCalls, grid: tuple[int, ...]) -> None:
        self._calls, self._grid = calls, grid

    def __repr__(self) -> str:
        return f"<{self._calls.name} with the grid {self._grid}>"

    def __call__(
        self,
        *arguments: Any,
        on: str = "gpu",
        stream: Any = None,
        arch: str | None = None,
        **constants: Any,
    ) -> None:
        """Run the kernel once, with the grid; see the call of a kernel."""
        if on == "gpu" and arch is None:
            self._calls.launch(arguments, constants, self._grid, stream)
        else:
            self._calls.emulate(arguments, constants, self._grid, _emulated_arch(on, stream, arch))

    def prepare(self, *arguments: Any, **constants: Any) -> Prepared:
        """Return a launch with the grid; see `Kernel.prepare`."""
        return self._calls.prepare(arguments, constants, self._grid)


def _emulated_arch(on: str, stream: Any, arch: str | None) -> str:
    """Return the emulated architecture of a call that is not a launch on a GPU."""
    if on not in _MACHINES:
        raise LaunchError(f"on is {on!r}; expected {' or '.join(map(repr, _MACHINES))}")
    if on == "gpu":
        raise LaunchError(f'arch is {arch!r}, but a GPU has its own; with on="cpu" it is emulated')
    if stream is not None:
        raise LaunchError(f"stream is {stream!r}, but the emulator has no streams")
    return arch or "sm_90a"


def _grid_tuple(grid: Any) -> tuple[int, ...]:
    """Return a grid as a tuple of Python's integers."""
    extents = grid if isinstance(grid, Sequence) else (grid,)
    try:
        blocks = tuple(extent.__index__() for extent in extents)
    except AttributeError:
        blocks = ()
    if not 1 <= len(blocks) <= 3 or any(extent < 1 for extent in blocks):
        raise LaunchError(f"a grid has one to three positive extents, not {grid!r}")
    return blocks
