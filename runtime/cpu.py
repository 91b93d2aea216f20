"""Run compiled kernels on the emulator, with the same arguments as on a GPU."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..codegen import Compiled
from ..emulator import emulate, parse_lowered
from ..emulator.arguments import strided_copy
from ..layout.elements import UNIT_BYTES
from .arguments import (
    Matrix,
    block_extents,
    check_dtype,
    host_arrays,
    kernel_named,
)
from .checked import check_launch
from .errors import LaunchError

#: Memory of a GPU begins at multiples of that many bytes (`cuMemAlloc`).
_GPU_ALIGNMENT = 256

#: Wraps an iterable of thread blocks, whose number is the second argument.
Progress = Callable[[Iterable[Any], int], Iterable[Any]]


def run_on_cpu(
    compiled: Compiled,
    entry: str | None,
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    grid: Sequence[int] | None = None,
    progress: Progress = lambda blocks, _: blocks,
    schedule: int = 0,
) -> dict[str, np.ndarray]:
    """Run a kernel once on the emulator; arguments and results are those of `run_on_gpu`.

    Args:
        compiled: the result of `compile` with `emit="nvvm"`.
        entry: the kernel's name; None if there is only one.
        inputs: the arrays and numbers to pass, by argument; the kernel gets the arrays' strides.
        outputs: the arguments to read back; those that are not inputs are zeros at the start.
        grid: thread blocks along x, y, z; computed from the manifest if None.
        progress: wraps the thread blocks while they run, for example in a progress bar.
        schedule: the order in which threads run; see `emulate`.

    Returns:
        The outputs, by name.

    Raises:
        LaunchError: if the arrays do not fit the kernel, or the machine.
        EmulationError: if the kernel has an op that the emulator does not know.
        Violations: if the kernel breaks a rule of the hardware.

    Example:
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> compiled = mlir_smem.compile(text, emit="nvvm")
        >>> import ml_dtypes
        >>> a, b = (np.eye(64, dtype=ml_dtypes.bfloat16) for _ in "AB")
        >>> outputs = run_on_cpu(compiled, "mma", {"arg0": a, "arg1": b}, ["arg2"], grid=(1,))
        >>> np.array_equal(outputs["arg2"], np.eye(64))
        True
    """
    kernel = _manifest_for_emulator(compiled, entry)
    try:
        host = host_arrays(kernel, inputs, outputs)
        _check_memory(_bytes(host.values()))
        arguments = {
            name: strided_copy(argument)[1] if isinstance(argument, np.ndarray) else argument
            for name, argument in host.items()
        }
    except MemoryError as error:
        raise LaunchError(f"the arrays do not fit this machine's memory: {error}") from None
    launch_on_cpu(compiled, entry, list(arguments.values()), grid, progress, schedule)
    return {name: arguments[name] for name in outputs}


def launch_on_cpu(
    compiled: Compiled,
    entry: str | None,
    arguments: Sequence[Any],
    grid: Sequence[int] | None = None,
    progress: Progress = lambda blocks, _: blocks,
    schedule: int = 0,
) -> None:
    """Run a kernel once on the emulator, and write its results into the given arrays.

    Args:
        compiled: the result of `compile` with `emit="nvvm"`.
        entry: the kernel's name; None if there is only one.
        arguments: for each argument of the kernel, a NumPy array or a number.
        grid: thread blocks along x, y, z; computed from the manifest if None.
        progress, schedule: as for `run_on_cpu`.

    Raises:
        LaunchError: if the arguments do not fit the kernel, or the machine; nothing has been written.
        EmulationError, Violations: as for `run_on_cpu`; nothing has been written.

    Example:
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> compiled = mlir_smem.compile(text, emit="nvvm")
        >>> import ml_dtypes
        >>> a, b = (np.eye(64, dtype=ml_dtypes.bfloat16) for _ in "AB")
        >>> d = np.zeros((64, 64), np.float32)
        >>> launch_on_cpu(compiled, "mma", [a, b, d], grid=(1,))
        >>> np.array_equal(d, np.eye(64))
        True
    """
    kernel = _manifest_for_emulator(compiled, entry)
    block = block_extents(kernel)
    x, y, z = check_launch(kernel, arguments, _matrix, grid).grid
    _check_memory(_bytes(arguments))
    emulate(
        parse_lowered(compiled.bytecode or b""),
        kernel["entry"],
        arguments,
        grid=(x, y, z),
        block=block,
        dynamic_shared_bytes=kernel["shared_bytes"],
        progress=lambda blocks: progress(blocks, prod((x, y, z))),
        schedule=schedule,
    )


def _manifest_for_emulator(compiled: Compiled, entry: str | None) -> Mapping[str, Any]:
    """Return the manifest of a kernel that the emulator can run."""
    if compiled.bytecode is None:
        raise LaunchError("the module was not compiled for the emulator; compile with emit='nvvm'")
    return kernel_named(compiled.manifest, entry)


def _matrix(argument: Mapping[str, Any], array: Any) -> Matrix:
    """Return an array as a kernel addresses it.

    Strides that no memref has are those of the emulator's copy.
    """
    if not isinstance(array, np.ndarray):
        raise LaunchError(
            f"{argument['name']} is {type(array).__name__}; the emulator takes NumPy arrays"
        )
    check_dtype(argument, array.dtype)
    size = array.itemsize
    is_whole = all(s % size == 0 for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    strides = array.strides if is_whole else array.copy(order="K").strides
    elements = tuple(stride // size for stride in strides)
    return Matrix(_address(array), array.shape, elements, size)


def _address(array: np.ndarray) -> int:
    """Return the address of an array as if NumPy's memory began where that of a GPU does, at a multiple
    of 256 bytes; NumPy's own begins at multiples of 16."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    begin = owner.ctypes.data
    # The memory of another package may begin anywhere.
    return array.ctypes.data - (begin % _GPU_ALIGNMENT if begin % UNIT_BYTES == 0 else 0)


def _bytes(arguments: Iterable[Any]) -> int:
    return sum(argument.nbytes for argument in arguments if isinstance(argument, np.ndarray))


def _check_memory(size: int) -> None:
    """Check that the arrays and the emulator's copies fit the machine.

    Raises:
        LaunchError: if they do not.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = 3 * size
    if needed > memory:
        raise LaunchError(
            f"the arrays take {size / 2**30:.1f} GiB, and the emulator needs three copies of them; this "
            f"machine has {memory / 2**30:.1f} GiB"
        )
