"""Slices of arrays and tiles: the start and the size along each dimension."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from ..errors import TraceError
from .base import describe
from .index import Index, difference, index_hint, is_index


@dataclass(frozen=True)
class Ds:
    """A slice by its start and its size: see `ds`."""

    start: Index | int
    size: int


def ds(start: Index | int, size: int) -> Ds:
    """Return a slice by its size: `A[sl.ds(row, 64), :]` is `A[row : row + 64, :]`.

    Args:
        start: the first element.
        size: the number of elements.

    Example:
        >>> sl.ds(128, 64)
        Ds(start=128, size=64)
    """
    return Ds(start, size)


def extents_of(shape: Any) -> tuple[int, ...]:
    """Return a shape as Python's integers.

    Raises:
        TraceError: for an extent that is known at run time only.
    """
    return tuple(map(operator.index, shape if isinstance(shape, list | tuple) else (shape,)))


@dataclass(frozen=True)
class IndexRange:
    """A range of indices of a dimension.

    Attributes:
        start: the first element.
        size: the number of elements.
        dropped: whether the dimension is dropped: it was given by one index.
    """

    start: Index | int
    size: int
    dropped: bool = False


def index_ranges(source: str, shape: tuple[Any, ...], indices: Any) -> list[IndexRange]:
    """Return the slice of each dimension, for an expression in brackets.

    Args:
        source: the sliced array or tile, for messages.
        shape: its extents; those that are not integers are known at run time.
        indices: the expression in the brackets.

    Raises:
        TraceError: for a part without a static size, outside of a static extent, or of another rank.
    """
    dims = indices if isinstance(indices, tuple) else (indices,)
    if len(dims) > len(shape):
        raise TraceError(f"{source} has {len(shape)} dimensions, but {len(dims)} indices are given")
    dims = (*dims, *(slice(None) for _ in range(len(shape) - len(dims))))
    return [
        _index_range(source, dim, extent, index)
        for dim, (extent, index) in enumerate(zip(shape, dims, strict=True))
    ]


def _index_range(source: str, dim: int, extent: Any, index: Any) -> IndexRange:
    if isinstance(index, Ds):
        part = IndexRange(index.start, operator.index(index.size))
    elif isinstance(index, slice):
        part = _range_of_slice(source, dim, extent, index)
    elif is_index(index):
        start = (
            index + extent
            if isinstance(index, int) and index < 0 and isinstance(extent, int)
            else index
        )
        part = IndexRange(start, 1, dropped=True)
    else:
        raise TraceError(
            f"dimension {dim} of {source} is indexed by {describe(index)}; expected an index, "
            "start : stop, or sl.ds(start, size)"
        )
    if part.size < 1 or not is_index(part.start):
        raise TraceError(
            f"{part.size} elements of dimension {dim} of {source} are taken from "
            f"{describe(part.start)}; expected 1 or more, from an index{index_hint(part.start)}"
        )
    if not isinstance(extent, int) and isinstance(part.start, int) and part.start < 0:
        raise TraceError(
            f"element {part.start} of dimension {dim} of {source} is counted from an end that is known "
            f"at run time; write A.shape[{dim}] - {-part.start}"
        )
    if isinstance(extent, int) and isinstance(part.start, int):
        last = part.start + part.size
        if part.start < 0 or last > extent:
            text = f"element {part.start}" if part.dropped else f"{part.start} : {last}"
            raise TraceError(
                f"{text} of dimension {dim} of {source} is outside of its extent {extent}"
            )
    if isinstance(extent, int) and part.size > extent:
        raise TraceError(
            f"{part.size} elements of dimension {dim} of {source} are taken, which has {extent}"
        )
    return part


def _range_of_slice(source: str, dim: int, extent: Any, part: slice) -> IndexRange:
    if part.step is not None:
        raise TraceError(
            f"dimension {dim} of {source} is sliced with a step; expected start : stop"
        )
    start = 0 if part.start is None else part.start
    if part.stop is None:
        if not isinstance(extent, int):
            raise TraceError(
                f"dimension {dim} of {source} has an extent that is known at run time; expected "
                "start : stop, where stop - start is a number, or sl.ds(start, size)"
            )
        stop = extent
    else:
        stop = part.stop
    if isinstance(extent, int):
        start = start + extent if isinstance(start, int) and start < 0 else start
        stop = stop + extent if isinstance(stop, int) and stop < 0 else stop
    for bound in (start, stop):
        if not is_index(bound):
            raise TraceError(
                f"dimension {dim} of {source} is sliced at {describe(bound)}{index_hint(bound)}"
            )
    size = difference(stop, start)
    if size is None:
        raise TraceError(
            f"dimension {dim} of {source} is sliced from {_bound_text(start)} to {_bound_text(stop)}, "
            "whose distance is known at run time only; expected start : start + number, or "
            "sl.ds(start, size)"
        )
    if size < 1:
        raise TraceError(
            f"dimension {dim} of {source} is sliced to {size} elements; expected 1 or more"
        )
    return IndexRange(start, size)


def _bound_text(bound: Index | int) -> str:
    return str(bound) if isinstance(bound, int) else "an index"
