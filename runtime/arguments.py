"""Checks of arrays against a kernel's manifest: extents, strides, alignment, grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import Any

import ml_dtypes
import numpy as np

from ..layout.elements import UNIT_BYTES
from ..layout.lines import unaligned_dim
from .errors import LaunchError
from .scalars import check_scalar

#: NumPy's types for the MLIR element types of arguments.
DTYPES = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "i1": np.dtype(np.bool_),
    **{
        f"{sign}{bits}": np.dtype(f"{code}{bits // 8}")
        for bits in (64, 32, 16, 8)
        for sign, code in (("i", "i"), ("si", "i"), ("ui", "u"))
    },
}

#: Limits of compute capability 9.0: blocks of a grid along x, y, z; threads of a block along
#: x, y, z, and in all; blocks of a cluster; bytes of shared memory of a block.
_MAX_GRID = (2**31 - 1, 65535, 65535)
_MAX_BLOCK, _MAX_THREADS = (1024, 1024, 64), 1024
_MAX_CLUSTER = 16
_MAX_SHARED = 227 * 1024


@dataclass(frozen=True)
class Matrix:
    """An array as a kernel addresses it.

    Attributes:
        pointer: address of its first element.
        shape: extents.
        strides: in elements.
        item_bytes: size of an element in bytes.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item_bytes: int

    @classmethod
    def contiguous(cls, pointer: int, shape: tuple[int, ...], item_bytes: int) -> "Matrix":
        """Return an array whose elements follow each other, rows before columns."""
        return cls(pointer, shape, row_major_strides(shape), item_bytes)

    @property
    def bytes(self) -> int:
        """The bytes of its elements."""
        return prod(self.shape) * self.item_bytes

    def transposed(self) -> "Matrix":
        """Return the same memory with the last two dimensions exchanged."""
        (*batch, rows, columns), (*steps, down, along) = self.shape, self.strides
        shape, strides = (*batch, columns, rows), (*steps, along, down)
        return replace(self, shape=shape, strides=strides)


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous array, in elements."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def kernel_named(manifest: Mapping[str, Any], entry: str | None) -> Mapping[str, Any]:
    """Return the kernel with that name, or the only one.

    Raises:
        LaunchError: if no kernel has that name, or there are several and no name is given.
    """
    kernels = {k["entry"]: k for k in manifest["kernels"]}
    if entry is None and len(kernels) == 1:
        return next(iter(kernels.values()))
    if entry not in kernels:
        problem = f"no kernel is named '{entry}'" if entry else "name a kernel"
        raise LaunchError(f"{problem}; the module has {', '.join(kernels)}")
    return kernels[entry]


def block_extents(kernel: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return the threads of a thread block along x, y, z.

    Raises:
        LaunchError: if the kernel has no known_block_size, or its thread blocks are larger than possible.
    """
    entry = kernel["entry"]
    if kernel["block"] is None:
        raise LaunchError(f"{entry} has no known_block_size")
    x, y, z = block = tuple(kernel["block"])
    is_too_large = any(n > most for n, most in zip(block, _MAX_BLOCK, strict=True))
    if is_too_large or prod(block) > _MAX_THREADS:
        raise LaunchError(
            f"{entry} has thread blocks of {list(block)} threads; at most {list(_MAX_BLOCK)}, and "
            f"{_MAX_THREADS} in all, are possible"
        )
    if kernel["shared_bytes"] > _MAX_SHARED:
        raise LaunchError(
            f"{entry} has {kernel['shared_bytes']} bytes of dynamic shared memory; a thread block has at "
            f"most {_MAX_SHARED}"
        )
    if (blocks := prod(kernel["cluster"] or ())) > _MAX_CLUSTER:
        raise LaunchError(
            f"{entry} has clusters of {blocks} thread blocks; at most {_MAX_CLUSTER} are possible"
        )
    return x, y, z


def solve_extents(kernel: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return the value of each named extent.

    Args:
        kernel: the kernel's entry in the manifest.
        shapes: the shapes of the arrays, by argument.

    Raises:
        LaunchError: if a shape does not fit its argument, or two shapes contradict each other.
    """
    static = kernel.get("extents", {}).items()
    sources: dict[str, tuple[int, str]] = {
        extent: (number, "its type") for extent, number in static
    }
    for argument in kernel["arguments"]:
        name = argument["name"]
        if argument["kind"] != "memref" or name not in shapes:
            continue
        if len(shapes[name]) != len(argument["shape"]):
            raise LaunchError(
                f"{name} has {len(shapes[name])} dimensions; expected {len(argument['shape'])}"
            )
        for extent, actual in zip(argument["shape"], shapes[name], strict=True):
            if isinstance(extent, int) and extent != actual:
                raise LaunchError(f"{name} is {list(shapes[name])}; expected {argument['shape']}")
            if isinstance(extent, str):
                source = sources.setdefault(extent, (actual, name))
                if source[0] != actual:
                    raise LaunchError(
                        f"{extent} is {source[0]} in {source[1]} but {actual} in {name}"
                    )
    extents = {extent: number for extent, (number, _) in sources.items()}
    for extent, divisor in kernel["multiples"].items():
        if extent in extents and (extents[extent] % divisor or extents[extent] < 1):
            raise LaunchError(
                f"{extent} is {extents[extent]}; expected a positive multiple of {divisor}"
            )
    return extents


def shape_from(argument: Mapping[str, Any], extents: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of an argument whose extents are known from other arguments.

    Raises:
        LaunchError: if an extent is not known.
    """
    shape = []
    for extent in argument["shape"]:
        size = extents.get(extent) if isinstance(extent, str) else extent
        if size is None:
            raise LaunchError(
                f"the shape {argument['shape']} of {argument['name']} does not follow from the "
                "inputs; give its arguments smem.shape, or a static type"
            )
        shape.append(size)
    return tuple(shape)


def host_arrays(
    kernel: Mapping[str, Any], inputs: Mapping[str, Any], outputs: Sequence[str]
) -> dict[str, Any]:
    """Return the arguments of a kernel in order: the inputs, and arrays of zeros for the other outputs.

    A number may be an array without dimensions.

    Raises:
        LaunchError: if names, shapes or element types do not fit the kernel.
    """
    arguments = {a["name"]: a for a in kernel["arguments"]}
    unknown = [name for name in (*inputs, *outputs) if name not in arguments]
    if unknown:
        raise LaunchError(
            f"{kernel['entry']} has no argument {', '.join(unknown)}; it has {', '.join(arguments)}"
        )
    missing = [name for name in arguments if name not in inputs and name not in outputs]
    if missing:
        raise LaunchError(f"nothing is given for {', '.join(missing)}")
    extents = solve_extents(kernel, {name: np.shape(array) for name, array in inputs.items()})
    arrays: dict[str, Any] = {}
    for name, argument in arguments.items():
        if argument["kind"] != "memref":
            if name not in inputs:
                raise LaunchError(f"{name} is a {argument['type']}; only arrays can be read back")
            arrays[name] = _number(inputs[name])
            check_scalar(argument, arrays[name])
            continue
        dtype = _dtype(argument)
        if name in inputs:
            check_dtype(argument, inputs[name].dtype)
            arrays[name] = inputs[name]
        else:
            arrays[name] = _zeros(argument, shape_from(argument, extents), dtype)
    return arrays


def _number(value: Any) -> Any:
    """Return a number that may be an array without dimensions."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _dtype(argument: Mapping[str, Any]) -> np.dtype:
    """Return NumPy's type of an argument's elements.

    Raises:
        LaunchError: if NumPy lacks it.
    """
    dtype = DTYPES.get(argument["element"])
    if dtype is None:
        raise LaunchError(
            f"{argument['name']} has elements of {argument['element']}, a type that NumPy lacks"
        )
    return dtype


def check_dtype(argument: Mapping[str, Any], dtype: np.dtype) -> None:
    """Check the element type of an array in host memory.

    Raises:
        LaunchError: if it is not the argument's.
    """
    if dtype != _dtype(argument):
        raise LaunchError(
            f"{argument['name']} has elements of {dtype}; expected {argument['element']}"
        )


def _zeros(argument: Mapping[str, Any], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a zero array with the strides of the kernel's type; row-major where they are dynamic.

    Raises:
        LaunchError: if it does not fit the memory.
    """
    strides = argument["strides"]
    try:
        if all(shape) and all(stride is not None and stride > 0 for stride in strides):
            sizes = [stride * dtype.itemsize for stride in strides]
            last = sum((extent - 1) * size for extent, size in zip(shape, sizes, strict=True))
            return np.ndarray(shape, dtype, np.zeros(last + dtype.itemsize, np.uint8), 0, sizes)
        # The contiguous dimension is the last in memory; if it is dimension 0, the order is reversed.
        dims = range(len(shape))
        order = dims[::-1] if strides[:1] == [1] else sorted(dims, key=lambda d: strides[d] == 1)
        return np.zeros([shape[dim] for dim in order], dtype).transpose(np.argsort(order))
    except (MemoryError, ValueError) as error:
        raise LaunchError(
            f"{argument['name']} of {list(shape)} does not fit this machine's memory: {error}"
        ) from None


def check_count(kernel: Mapping[str, Any], values: Sequence[Any]) -> None:
    """Check the number of arguments of a launch.

    Raises:
        LaunchError: if it is not that of the kernel.
    """
    arguments = kernel["arguments"]
    if len(values) != len(arguments):
        raise LaunchError(
            f"{kernel['entry']} takes {len(arguments)} arguments "
            f"({', '.join(a['name'] for a in arguments)}), not {len(values)}"
        )


def check_matrix(argument: Mapping[str, Any], matrix: Matrix) -> None:
    """Check that fixed extents, strides and alignment are those that the kernel was compiled for.

    Raises:
        LaunchError: if an access of the kernel would be misaligned, or at a wrong address.
    """
    name, alignment = argument["name"], argument["alignment"]
    if len(matrix.shape) != len(argument["shape"]):
        raise LaunchError(
            f"{name} has {len(matrix.shape)} dimensions; expected {len(argument['shape'])}"
        )
    if any(extent < 1 for extent in matrix.shape):
        raise LaunchError(f"{name} is {list(matrix.shape)}; expected at least one element")
    pairs = zip(argument["shape"], matrix.shape, strict=True)
    if any(isinstance(extent, int) and extent != actual for extent, actual in pairs):
        raise LaunchError(f"{name} is {list(matrix.shape)}; expected {argument['shape']}")
    # The stride of a dimension of one element is not used.
    strides = [
        (expected, actual)
        for extent, expected, actual in zip(
            matrix.shape, argument["strides"], matrix.strides, strict=True
        )
        if extent > 1
    ]
    if any(expected not in (None, actual) for expected, actual in strides):
        raise LaunchError(
            f"{name} has the strides {list(matrix.strides)}; the kernel takes "
            f"{[s if s is not None else '?' for s in argument['strides']]} (elements)"
        )
    pairs = zip(argument["strides"], matrix.strides, strict=True)
    across = [None if expected == 1 else actual for expected, actual in pairs]
    dim = unaligned_dim(matrix.shape, across, matrix.item_bytes, alignment)
    if dim is not None:
        unit = min(alignment, UNIT_BYTES)
        raise LaunchError(
            f"{name} has the stride {matrix.strides[dim] * matrix.item_bytes} bytes along dimension "
            f"{dim}; the kernel accesses {unit} bytes at a time and takes multiples of {unit}"
        )
    if matrix.pointer % alignment:
        raise LaunchError(f"{name} begins at {matrix.pointer:#x}, not a multiple of {alignment}")


def launch_grid(
    kernel: Mapping[str, Any], extents: Mapping[str, int], grid: Sequence[int] | None
) -> tuple[int, int, int]:
    """Return the grid to launch: the caller's or, without one, that of the manifest.

    Raises:
        LaunchError: if there is neither, an extent is not known, or the grid cannot be launched.
    """
    declared = _declared_grid(kernel, extents)
    if grid is None:
        if kernel["grid"] is None:
            raise LaunchError(f"{kernel['entry']} has no smem.grid; pass a grid")
        for extent, _ in kernel["grid"]:
            if extent not in extents:
                raise LaunchError(
                    f"the grid of {kernel['entry']} needs {extent}, which no input has"
                )
        grid = declared
    if not 1 <= len(grid) <= 3 or any(g < 1 for g in grid):
        raise LaunchError(f"a grid has one to three positive extents, not {list(grid)}")
    if any(g > most for g, most in zip(grid, declared, strict=False)):
        # Its blocks would be outside of the arrays, of which kernels are compiled to know nothing.
        raise LaunchError(
            f"a grid of {list(grid)} blocks is larger than the one that {kernel['entry']} declares: "
            f"{declared}"
        )
    x, y, z = (*grid, 1, 1)[:3]
    if any(g > most for g, most in zip((x, y, z), _MAX_GRID, strict=True)):
        raise LaunchError(f"a grid of {[x, y, z]} is not possible; at most {list(_MAX_GRID)}")
    cluster = kernel["cluster"] or (1, 1, 1)
    if any(g % c for g, c in zip((x, y, z), cluster, strict=True)):
        raise LaunchError(
            f"a grid of {[x, y, z]} blocks is not possible; {kernel['entry']} has clusters; expected "
            f"multiples of {list(cluster)}"
        )
    return x, y, z


def _declared_grid(kernel: Mapping[str, Any], extents: Mapping[str, int]) -> list[int]:
    """Return the blocks that cover the extents of a manifest's grid; the most for an unknown extent."""
    most = max(_MAX_GRID)
    return [ceil(extents[x] / by) if x in extents else most for x, by in kernel["grid"] or ()]


def pack(matrix: Matrix) -> list[Any]:
    """Return the kernel parameters of a memref: two pointers, the offset, sizes, strides."""
    return [matrix.pointer, matrix.pointer, 0, *matrix.shape, *matrix.strides]
