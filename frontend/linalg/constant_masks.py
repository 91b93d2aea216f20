"""Masks that are constants: a band of a matrix, and places counted up."""

from __future__ import annotations

import numpy as np

from .expressions import TensorElement
from .generic import owner
from .loop_indices import LoopIndex


def read_constant(element: TensorElement) -> tuple[np.ndarray, list[LoopIndex]] | None:
    """Return a constant tensor without dimensions of extent 1, and the index along each dimension.

    None if the tensor is no constant, or is not indexed by one whole loop along each dimension.
    """
    op = owner(element.value)
    if op is None or op.name != "arith.constant":
        return None
    values = np.array(op.attributes["value"])
    selection = tuple(slice(None) if index else 0 for index in element.indices)
    indices = [index for index in element.indices if index]
    values = values[selection]
    for index, extent in zip(indices, values.shape, strict=True):
        if len(index) != 1 or index[0].step != 1 or index[0].extent != extent:
            return None
    return values, indices


def match_band(allowed: np.ndarray) -> tuple[int, int] | None:
    """Match a matrix that is true where `low <= column - row <= high`; return the two numbers.

    Example:
        >>> match_band(np.tril(np.ones((3, 4), bool)))
        (-2, 0)
    """
    rows, columns = allowed.shape
    distance = np.arange(columns) - np.arange(rows)[:, None]
    inside = distance[allowed]
    if not inside.size:
        return None
    low, high = int(inside.min()), int(inside.max())
    is_band = np.array_equal(allowed, (low <= distance) & (distance <= high))
    return (low, high) if is_band else None


def match_steps(values: np.ndarray) -> tuple[int, int] | None:
    """Match `first + step * place`, integers along one dimension; return `first` and `step`."""
    if values.ndim != 1 or len(values) < 2 or values.dtype.kind not in "iu":
        return None
    first, step = int(values[0]), int(values[1]) - int(values[0])
    counted = first + step * np.arange(len(values), dtype=np.int64)
    return (first, step) if np.array_equal(values, counted) else None
