"""Slices of arrays and tiles: where a window begins, and its extents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import TraceError
from .index import Index, difference, is_index
from .index import describe as describe_index


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


@dataclass(frozen=True)
class Range:
    """A part of a dimension.

    Attributes:
        start: the first element.
        size: the number of elements.
        dropped: whether the dimension is dropped: it was given by one index.
    """

    start: Index | int
    size: int
    dropped: bool = False


def ranges(what: str, shape: tuple[Any, ...], at: Any) -> list[Range]:
    """Return the part of each dimension that an expression in brackets takes.

    Args:
        what: what is sliced, for messages.
        shape: its extents; those that are not integers are known at run time.
        at: what is in the brackets.

    Raises:
        TraceError: for a part without a static size, outside of a static extent, or of another rank.
    """
    given = at if isinstance(at, tuple) else (at,)
    if len(given) > len(shape):
        raise TraceError(f"{what} has {len(shape)} dimensions, but {len(given)} indices are given")
    given = (*given, *(slice(None) for _ in range(len(shape) - len(given))))
    return [
        _range(what, dim, extent, g)
        for dim, (extent, g) in enumerate(zip(shape, given, strict=True))
    ]


def _range(what: str, dim: int, extent: Any, given: Any) -> Range:
    if isinstance(given, Ds):
        found = Range(given.start, given.size)
    elif isinstance(given, slice):
        found = _of_slice(what, dim, extent, given)
    elif is_index(given):
        start = (
            given + extent
            if isinstance(given, int) and given < 0 and isinstance(extent, int)
            else given
        )
        found = Range(start, 1, dropped=True)
    else:
        raise TraceError(
            f"dimension {dim} of {what} is indexed by {describe_index(given)}; expected an index, "
            "start : stop, or sl.ds(start, size)"
        )
    if isinstance(extent, int) and isinstance(found.start, int):
        last = found.start + found.size
        if found.start < 0 or last > extent:
            taken = f"element {found.start}" if found.dropped else f"{found.start} : {last}"
            raise TraceError(
                f"{taken} of dimension {dim} of {what} is outside of its extent {extent}"
            )
    if isinstance(extent, int) and found.size > extent:
        raise TraceError(
            f"{found.size} elements of dimension {dim} of {what} are taken, which has {extent}"
        )
    return found


def _of_slice(what: str, dim: int, extent: Any, given: slice) -> Range:
    if given.step is not None:
        raise TraceError(f"dimension {dim} of {what} is sliced with a step; expected start : stop")
    start = 0 if given.start is None else given.start
    if given.stop is None:
        if not isinstance(extent, int):
            raise TraceError(
                f"dimension {dim} of {what} has an extent that is known at run time; expected "
                "start : stop, where stop - start is a number, or sl.ds(start, size)"
            )
        stop = extent
    else:
        stop = given.stop
    if isinstance(extent, int):
        start = start + extent if isinstance(start, int) and start < 0 else start
        stop = stop + extent if isinstance(stop, int) and stop < 0 else stop
    for each in (start, stop):
        if not is_index(each):
            raise TraceError(f"dimension {dim} of {what} is sliced at {describe_index(each)}")
    size = difference(stop, start)
    if size is None:
        raise TraceError(
            f"dimension {dim} of {what} is sliced from {_text(start)} to {_text(stop)}, whose distance "
            "is known at run time only; expected start : start + number, or sl.ds(start, size)"
        )
    if size < 1:
        raise TraceError(
            f"dimension {dim} of {what} is sliced to {size} elements; expected 1 or more"
        )
    return Range(start, size)


def _text(at: Index | int) -> str:
    return str(at) if isinstance(at, int) else "an index"
