"""Queries, keys and values as the kernel addresses them, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ....layout.elements import UNIT_BYTES
from ....runtime import Matrix
from ...errors import ProblemError

#: The order of an array's dimensions: batch, sequence, head, dim.
LAYOUTS = {"bshd": (0, 2, 1, 3), "bhsd": (0, 1, 2, 3)}

#: The numbers of keys that a query sees before and behind its position; None for all.
Window = tuple[int | None, int | None]


class AttentionArrays(NamedTuple):
    """The arrays of a call; None for those that are missing."""

    q: Any
    k: Any
    v: Any
    cu_seqlens_q: Any = None
    cu_seqlens_k: Any = None
    q_descale: Any = None
    k_descale: Any = None
    v_descale: Any = None
    out: Any = None

    @property
    def descales(self) -> dict[str, Any]:
        """The given factors of q, k and v, by name."""
        descales = {name: array for name, array in self._asdict().items() if "descale" in name}
        return {name: array for name, array in descales.items() if array is not None}


class NamedMatrix(NamedTuple):
    """An array of a call, with its name.

    Attributes:
        name: its name in messages.
        matrix: address, shape and strides.
        element: MLIR's name of its element type.
    """

    name: str
    matrix: Matrix
    element: str


@dataclass(frozen=True)
class AttentionExtents:
    """The extents of a problem.

    Attributes:
        batches, heads: those of the queries.
        groups: the heads of the keys and values.
        queries, keys: the lengths of the sequences.
        dim: the head dimension.
    """

    batches: int
    heads: int
    groups: int
    queries: int
    keys: int
    dim: int


def by_heads(array: NamedMatrix, layout: str, packed: bool = False) -> NamedMatrix:
    """Return an array with its dimensions in the kernel's order: batch, head, sequence, dim.

    Args:
        array: the array.
        layout: the order of its dimensions.
        packed: whether it has no batches, but sequences that follow each other.

    Raises:
        ProblemError: for an unknown layout, or an array without these dimensions.
    """
    if layout not in LAYOUTS:
        raise ProblemError(f"layout is {layout!r}; expected {' or '.join(map(repr, LAYOUTS))}")
    matrix, expected = array.matrix, layout.replace("b", "") if packed else layout
    if len(matrix.shape) != len(expected):
        raise ProblemError(
            f"{array.name} has the shape {_list_text(matrix.shape)}; expected {len(expected)} "
            f"dimensions, {expected}"
        )
    if packed:
        # No step is taken in a dimension of extent 1; TMA takes a stride of whole rows.
        shape, strides = (1, *matrix.shape), (max(matrix.strides), *matrix.strides)
        matrix = replace(matrix, shape=shape, strides=strides)
    order = LAYOUTS[layout]
    shape, strides = (
        tuple(values[dim] for dim in order) for values in (matrix.shape, matrix.strides)
    )
    return array._replace(matrix=replace(matrix, shape=shape, strides=strides))


def with_heads_as_queries(array: NamedMatrix, groups: int) -> NamedMatrix:
    """Return an array by heads, of one query, with the heads that share a head of keys as its queries.

    They are then rows of one tile, which reads the keys once for all of them.
    """
    matrix = array.matrix
    (batches, heads, _, dim), (batch, head, _, along) = matrix.shape, matrix.strides
    shape = batches, groups, heads // groups, dim
    strides = batch, head * (heads // groups), head, along
    return array._replace(matrix=replace(matrix, shape=shape, strides=strides))


def check_extents(q: NamedMatrix, k: NamedMatrix, v: NamedMatrix) -> AttentionExtents:
    """Return the extents of arrays by heads.

    Raises:
        ProblemError: if they do not go together, or TMA cannot read them.
    """
    for other in (k, v):
        if other.element != q.element:
            raise ProblemError(
                f"q has elements of {q.element}, but {other.name} of {other.element}; expected one type"
            )
    if k.matrix.shape != v.matrix.shape:
        raise ProblemError(
            f"k has {_shape_text(k)}, but v has {_shape_text(v)}; expected equal batches, heads, lengths "
            "and dimensions"
        )
    batches, heads, queries, dim = q.matrix.shape
    key_batches, groups, keys, key_dim = k.matrix.shape
    if (batches, dim) != (key_batches, key_dim):
        raise ProblemError(
            f"q has {_shape_text(q)}, but k has {_shape_text(k)}; expected equal batches and dimensions"
        )
    if not all((batches, heads, groups, queries, keys)):
        raise ProblemError(
            f"q has {_shape_text(q)}, and k has {_shape_text(k)}; expected one or more of each"
        )
    if heads % groups:
        raise ProblemError(
            f"q has {heads} heads, and k and v have {groups}; expected a multiple of theirs"
        )
    for array in (q, k, v):
        check_readable(array)
    return AttentionExtents(batches, heads, groups, queries, keys, dim)


def check_readable(array: NamedMatrix) -> None:
    """Check that TMA reads an array by heads.

    Raises:
        ProblemError: if its last dimension is not contiguous, or its rows or its address are no multiples
            of 16 bytes.
    """
    matrix = array.matrix
    *outer, last = matrix.strides
    if last != 1:
        raise ProblemError(
            f"{array.name} has strides of {_list_text(matrix.strides)} elements; expected a contiguous "
            "last dimension"
        )
    units = UNIT_BYTES // matrix.item_bytes
    for extent, stride in zip(matrix.shape, outer, strict=False):
        if extent > 1 and (stride % units or stride <= 0):
            raise ProblemError(
                f"{array.name} has strides of {_list_text(matrix.strides)} elements; expected positive "
                f"multiples of {units} ({UNIT_BYTES} bytes)"
            )
    if matrix.pointer % UNIT_BYTES:
        raise ProblemError(
            f"{array.name} is at {matrix.pointer:#x}; expected a multiple of {UNIT_BYTES} bytes"
        )


def window_of(causal: bool, window: object) -> Window:
    """Return the numbers of keys that a query sees before and behind it, from a call's arguments.

    Raises:
        ProblemError: for a window that is none.
    """
    left = right = None
    if window is not None:
        pair = isinstance(window, tuple | list) and len(window) == 2
        if not pair or not all(limit is None or isinstance(limit, int) for limit in window):  # type: ignore[attr-defined]
            raise ProblemError(
                f"window is {window!r}; expected (left, right), numbers of keys, None for all"
            )
        left, right = window  # type: ignore[misc]
        for limit in (left, right):
            if limit is not None and limit < 0:
                raise ProblemError(f"window is {window!r}; expected 0 or more, or None for all")
    return left, 0 if causal else right


def _list_text(numbers: Sequence[int]) -> str:
    return str(list(numbers))


def _shape_text(array: NamedMatrix) -> str:
    batches, heads, length, dim = array.matrix.shape
    return f"{batches} batches of {heads} heads, length {length}, dimension {dim}"
