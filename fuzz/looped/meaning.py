"""What a random kernel with plain loops computes: its source, run as Python on NumPy arrays."""

from types import SimpleNamespace
from typing import Any

import numpy as np

#: The largest whole number that fragments keep.
BOUND = 8.0


def bounded_by(language: Any) -> Any:
    """Return the function that keeps elements small, so that all sums are exact."""

    def bounded(x: Any) -> Any:
        return language.maximum(language.minimum(x, BOUND), -BOUND)

    return bounded


class _Matrix(np.ndarray):
    """A fragment."""

    def max(self, axis: int) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return np.max(np.asarray(self), axis=axis, keepdims=True).view(_Matrix)

    def sum(self, axis: int) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return np.sum(np.asarray(self), axis=axis, keepdims=True).view(_Matrix)

    def to(self, dtype: Any) -> Any:
        return self.astype(dtype)


def _matrix(values: Any) -> Any:
    return np.asarray(values, np.float32).view(_Matrix)


class _Window:
    """A part of an array, of which elements outside of the array are 0 and are not written.

    Args:
        array: the array.
        ranges: the first element and the number of elements along each dimension.
    """

    def __init__(self, array: np.ndarray, ranges: list[tuple[int, int]]) -> None:
        self._array, self._ranges = array, ranges
        self._inside = tuple(
            slice(start, max(start, min(start + count, extent)))
            for (start, count), extent in zip(ranges, array.shape, strict=True)
        )

    def read(self) -> np.ndarray:
        """Return the elements."""
        part = self._array[self._inside]
        edges = [(0, count - n) for (_, count), n in zip(self._ranges, part.shape, strict=True)]
        return np.pad(part.astype(np.float32), edges)

    def write(self, values: np.ndarray) -> None:
        """Write the elements that the array has."""
        part = self._array[self._inside]
        part[...] = np.asarray(values)[tuple(slice(0, n) for n in part.shape)]


class _Array:
    """An argument of the kernel."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, indices: Any) -> Any:
        indices = indices if isinstance(indices, tuple) else (indices,)
        if not any(isinstance(index, slice) for index in indices):
            inside = all(0 <= i < n for i, n in zip(indices, self.shape, strict=True))
            return self._array[indices].item() if inside else 0
        ranges = [
            (index.start, index.stop - index.start) if isinstance(index, slice) else (index, 1)
            for index in indices
        ]
        return _Window(self._array, ranges)

    def __setitem__(self, indices: Any, value: Any) -> None:
        if all(0 <= i < n for i, n in zip(indices, self.shape, strict=True)):
            self._array[indices] = value


class _Tile:
    """A tile of shared memory, or a view of one."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @property
    def T(self) -> "_Tile":  # noqa: N802 (the language's name)
        return _Tile(self.values.T)

    def __getitem__(self, indices: Any) -> "_Tile":
        return _Tile(self.values[indices])


def _operand(value: Any) -> np.ndarray:
    return np.asarray(value.values if isinstance(value, _Tile) else value, np.float32)


def language(
    block: tuple[int, int], grid: tuple[int, int], shape: tuple[int, int]
) -> SimpleNamespace:
    """Return the functions of the language as functions of NumPy.

    Args:
        block, grid: the thread block, and how many there are, along x and y.
        shape: of the matrices that have positions.
    """

    def copy(window: _Window, tile: _Tile) -> None:
        tile.values[...] = window.read()

    def mma(a: Any, b: Any, acc: Any = 0.0) -> Any:
        return _matrix(_operand(a) @ _operand(b) + acc)

    def load(source: Any, axis: int | None = None) -> Any:
        return _matrix(source.values if isinstance(source, _Tile) else source.read())

    def store(value: Any, target: Any) -> None:
        if isinstance(target, _Tile):
            target.values[...] = value
        else:
            target.write(value)

    return SimpleNamespace(
        alloc=lambda shape, dtype: _Tile(np.zeros(shape, dtype)),
        zeros=lambda shape, dtype, axis=None: _matrix(
            np.zeros(shape if axis is None else (*shape, 1))
        ),
        copy=copy,
        mma=mma,
        load=load,
        store=store,
        f32=np.float32,
        block_id=lambda dim: block[dim],
        grid_dim=lambda dim: grid[dim],
        cdiv=lambda a, b: -(-a // b),
        ds=lambda start, count: slice(start, start + count),
        range=range,
        maximum=lambda a, b: _matrix(np.maximum(a, b)),
        minimum=lambda a, b: _matrix(np.minimum(a, b)),
        where=lambda c, a, b: _matrix(np.where(c, a, b)),
        iota=lambda axis: np.indices(shape)[axis],
    )


def arguments(arrays: dict[str, np.ndarray]) -> list[_Array]:
    """Return the arguments of the kernel."""
    return [_Array(array) for array in arrays.values()]
