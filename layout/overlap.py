"""Elements that share an address."""

from __future__ import annotations

import numpy as np

#: Indices of two elements.
Pair = tuple[tuple[int, ...], tuple[int, ...]]


def shared_place(places: np.ndarray) -> Pair | None:
    """Return an earlier element and the first one that has its place; None if no two share a place.

    Args:
        places: integers, the place of each element.
    """
    flat = places.ravel()
    order = np.argsort(flat, kind="stable")
    repeated = np.flatnonzero(flat[order][1:] == flat[order][:-1])
    if not repeated.size:
        return None
    second = int(order[repeated + 1].min())
    first = int(np.flatnonzero(flat == flat[second])[0])
    earlier, later = (
        tuple(int(i) for i in np.unravel_index(e, places.shape)) for e in (first, second)
    )
    return earlier, later


def sharing(places: np.ndarray) -> np.ndarray:
    """Return which elements share their place with another element: bool, of the shape of `places`."""
    _, inverse, counts = np.unique(places, return_inverse=True, return_counts=True)
    return (counts[inverse] > 1).reshape(places.shape)


def shared_text(pair: Pair, bit: int, element_bits: int) -> str:
    """Return, for a message, two elements and their place.

    Args:
        pair: their indices.
        bit: bits from the start of the tile to them.
        element_bits: bits of an element.
    """
    first, second = map(list, pair)
    place = f"byte {bit // 8:#x}" + (f", bit {bit % 8}" if element_bits < 8 else "")
    return f"the elements {first} and {second} in the same place, {place}"
