"""Run compiled kernels on the emulator, with the same arguments as on a GPU."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from ..codegen import Compiled
from ..emulator import emulate
from ..emulator.strided import strided_copy
from .arguments import (
    Matrix,
    block_extents,
    check_matrix,
    host_arrays,
    kernel_named,
    launch_grid,
    solve_extents,
)
from .errors import LaunchError
from .tensor_maps import tensor_map

#: Wraps an iterable of thread blocks, whose number is the second argument.
Progress = Callable[[Iterable[Any], int], Iterable[Any]]


def run_on_cpu(
    compiled: Compiled,
    entry: str | None,
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    grid: Sequence[int] | None = None,
    progress: Progress = lambda blocks, _: blocks,
) -> dict[str, np.ndarray]:
    """Run a kernel once on the emulator; arguments and results are those of `run_on_gpu`.

    Args:
        compiled: the result of `compile` with `emit="nvvm"`.
        entry: the kernel's name; None if there is only one.
        inputs: the arrays to pass, by argument; the kernel gets their strides.
        outputs: the arguments to read back; those that are not inputs are zeros at the start.
        grid: thread blocks along x, y, z; computed from the manifest if None.
        progress: wraps the thread blocks while they run, for example in a progress bar.

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
        >>> found = run_on_cpu(compiled, "mma", {"arg0": a, "arg1": b}, ["arg2"], grid=(1,))
        >>> np.array_equal(found["arg2"], np.eye(64))
        True
    """
    if compiled.located is None:
        raise LaunchError("the module was not compiled for the emulator; compile with emit='nvvm'")
    kernel = kernel_named(compiled.manifest, entry)
    block = block_extents(kernel)
    try:
        host = host_arrays(kernel, inputs, outputs)
        _check_memory(sum(array.nbytes for array in host.values()))
        arrays = {name: strided_copy(array)[1] for name, array in host.items()}
    except MemoryError as error:
        raise LaunchError(f"the arrays do not fit this machine's memory: {error}") from None
    matrices = {}
    for argument in kernel["arguments"]:
        array = arrays[argument["name"]]
        strides = tuple(stride // array.itemsize for stride in array.strides)
        matrix = Matrix(0, array.shape, strides, array.itemsize)
        check_matrix(argument, matrix)
        matrices[argument["name"]] = matrix
    for entry_of_map in kernel["tensor_maps"]:
        tensor_map(entry_of_map, matrices[entry_of_map["argument"]])
    shapes = {name: array.shape for name, array in arrays.items()}
    x, y, z = launch_grid(kernel, solve_extents(kernel, shapes), grid)
    emulate(
        compiled.located,
        kernel["entry"],
        [arrays[argument["name"]] for argument in kernel["arguments"]],
        grid=(x, y, z),
        block=block,
        dynamic_shared_bytes=kernel["shared_bytes"],
        progress=lambda blocks: progress(blocks, prod((x, y, z))),
    )
    return {name: arrays[name] for name in outputs}


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
