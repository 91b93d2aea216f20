"""Inference of a layout from the map of its elements' offsets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .elements import Element
from .modes import LayoutError, Mode
from .swizzle import Swizzle
from .tile import SPAN_BITS, TileLayout, size_problem


@dataclass(frozen=True)
class InferredLayout:
    """A layout inferred from a map, and how well it fits the map.

    Attributes:
        layout: the layout.
        start: the offset of its first element, in elements; a multiple of the swizzle's pattern.
        wrong: how many elements have another offset in the map than in the layout.
        first: the index of the first of those; None if there is none.
        actual, expected: the offset of that element in the map and in the layout, in elements.
    """

    layout: TileLayout
    start: int
    wrong: int
    first: tuple[int, ...] | None = None
    actual: int | None = None
    expected: int | None = None


def element_offsets(layout: TileLayout) -> np.ndarray:
    """Return the offset of each element from the tile's (aligned) start: int64, of the tile's shape, in
    elements."""
    return _swizzle_offsets(layout.linear(), layout.element, layout.swizzle)


def infer_layouts(places: np.ndarray, element: Element) -> list[InferredLayout]:
    """Return the layout that fits a map best for each swizzling mode, the best fit first.

    Most lines of the map have these strides, so that a few wrong elements do not change them.
    Several modes may fit a small tile.

    Args:
        places: int64[..., rows, columns], the offset of each element, in elements.
        element: the element type.

    Raises:
        LayoutError: if the map does not have rank 2 or 3, is empty, has offsets that are negative or
            outside of any memory, or decreases along a dimension for every swizzle.
    """
    if places.ndim not in (2, 3) or not places.size:
        raise LayoutError(f"a map has rows and columns, or stages in front, not {places.shape}")
    if problem := size_problem(element, places.shape):
        raise LayoutError(problem)
    if int(places.max()) * element.bits >> SPAN_BITS:
        raise LayoutError(f"an element is at {places.max()}, outside of any memory")
    if places.min() < 0:
        index = _first_index(places < 0)
        raise LayoutError(f"element {index} is at {places[index]}; expected 0 or more")
    fits = [fit for swizzle in Swizzle if (fit := _fit_layout(places, element, swizzle))]
    if not fits:
        raise LayoutError(
            "the offsets decrease from one element to the next; strides are 0 or more"
        )
    return sorted(fits, key=lambda fit: fit.wrong)


def _fit_layout(places: np.ndarray, element: Element, swizzle: Swizzle) -> InferredLayout | None:
    """Return the layout with that swizzle that fits a map best, or None if its offsets decrease."""
    linear = _swizzle_offsets(places, element, swizzle)
    dims: list[tuple[Mode, ...]] = []
    remainder = linear
    for dim, extent in enumerate(places.shape):
        lines = np.moveaxis(linear, dim, 0).reshape(extent, -1)
        along = _median(lines - lines[:1], axis=1)
        modes = _modes(along)
        if modes is None:
            return None
        dims.append(modes)
        remainder = remainder - along.reshape([-1 if d == dim else 1 for d in range(places.ndim)])
    layout = TileLayout(element, places.shape, tuple(dims), swizzle).coalesced()
    pattern = swizzle.pattern_bytes * 8 // element.bits
    start = int(_median(remainder.ravel(), axis=0)) // pattern * pattern
    expected = _swizzle_offsets(layout.linear() + start, element, swizzle)
    differs = expected != places
    if not differs.any():
        return InferredLayout(layout, start, 0)
    first = _first_index(differs)
    wrong = int(differs.sum())
    return InferredLayout(layout, start, wrong, first, int(places[first]), int(expected[first]))


def _swizzle_offsets(places: np.ndarray, element: Element, swizzle: Swizzle) -> np.ndarray:
    """Return the swizzled offsets of linear offsets, or the reverse: the XOR is its own inverse."""
    byte, bit = np.divmod(places * element.bits, 8)
    return (swizzle.apply(byte) * 8 + bit) // element.bits


def _median(values: np.ndarray, axis: int) -> np.ndarray:
    """Return the upper median of integers along an axis."""
    return np.take(np.sort(values, axis=axis), values.shape[axis] // 2, axis=axis)


def _modes(offsets: np.ndarray) -> tuple[Mode, ...] | None:
    """Return the modes of offsets along a dimension, or None if the offsets decrease."""
    if len(offsets) == 1:
        return (Mode(1, 0),)
    stride = int(offsets[1])
    if stride < 0:
        return None
    breaks = np.flatnonzero(offsets != stride * np.arange(len(offsets)))
    if not breaks.size:
        return (Mode(len(offsets), stride),)
    extent = int(breaks[0])
    outer = _modes(offsets[::extent])
    return None if outer is None else (Mode(extent, stride), *outer)


def _first_index(condition: np.ndarray) -> tuple[int, ...]:
    """Return the index of the first element for which a condition is true."""
    return tuple(int(i) for i in np.unravel_index(int(condition.argmax()), condition.shape))
