"""The loops of attention as dimensions of its kernel: batches, heads, queries, keys, head dimension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from ...layout.fragments import FRAGMENT_M
from .dynamic_extents import shape_of
from .expressions import TensorElement
from .loop_indices import Digit, LoopIndex
from .masks import ARBITRARY
from .unsupported import Unsupported

#: The operands of attention that have a dimension.
SHARED, ROWS, KEYS, SUMMED, COLUMNS = "qkvo", "qo", "kv", "qk", "vo"


@dataclass(frozen=True)
class Dim:
    """A dimension of attention.

    Attributes:
        digits: the digits of loop counters, the most significant one first.
        extent: the extent.
        strides: the stride in each operand that has the dimension, in elements.
    """

    digits: tuple[Digit, ...]
    extent: int
    strides: Mapping[str, int]

    @property
    def role(self) -> str:
        """The operands that have the dimension, of "qkvo"."""
        return "".join(name for name in SHARED if name in self.strides)


@dataclass(frozen=True)
class AttentionDims:
    """The dimensions of the attention kernel; None for an extent of 1.

    Attributes:
        batch: the batches.
        head: the heads of keys.
        sharing: the heads of queries that share a head of keys.
        row, key: the queries and the keys.
        summed: the head dimension of queries and keys.
        column: the head dimension of values and the result.
    """

    batch: Dim | None
    head: Dim | None
    sharing: Dim | None
    row: Dim | None
    key: Dim | None
    summed: Dim
    column: Dim


def match_dims(operands: Mapping[str, TensorElement], row: LoopIndex | None) -> AttentionDims:
    """Match the loops of attention with the dimensions of its kernel.

    Args:
        operands: an element of each of q, k, v and o, with numbers in the places of dynamic extents; the
            tensors are contiguous.
        row: the index of the query in the mask; None without a mask.

    Raises:
        Unsupported: if the kernel has no such dimensions.
    """
    if any(0 in shape_of(operand) for operand in operands.values()):
        raise Unsupported("has an extent of 0")
    dims = _dims(operands, row or ())
    for dim in dims:
        if dim.role not in (SHARED, ROWS, KEYS, SUMMED, COLUMNS):
            raise Unsupported(
                f"has a dimension of {' and '.join(dim.role)} alone, which the kernel has not"
            )

    def dims_with_role(role: str, ordered: bool = False) -> list[Dim]:
        return _merge_dims([dim for dim in dims if dim.role == role], ordered)

    key, summed, column = (
        _only_dim(dims_with_role(KEYS, row is not None)),
        _only_dim(dims_with_role(SUMMED)),
        _only_dim(dims_with_role(COLUMNS)),
    )
    if summed is None or column is None:
        raise Unsupported("has a head dimension of 1")
    if row is None:
        row_dims = sorted(dims_with_role(ROWS), key=lambda dim: -dim.extent)
        query, sharing = next(iter(row_dims), None), _only_dim(row_dims[1:])
    else:
        row_dims = _row_dims(dims, row)
        query = _only_dim(_merge_dims(row_dims, ordered=True))
        sharing = _only_dim(
            _merge_dims([dim for dim in dims if dim.role == ROWS and dim not in row_dims], False)
        )
        if not row and sharing is not None and sharing.extent >= FRAGMENT_M:
            raise Unsupported(
                f"masks keys by their places alone, the same of {sharing.extent} queries; the kernel "
                "would have a tile for each query"
            )
    batch, head = _heads(dims_with_role(SHARED), sharing)
    return AttentionDims(batch, head, sharing, query, key, summed, column)


def _row_dims(dims: list[Dim], row: LoopIndex) -> list[Dim]:
    """Return the dimensions that the index of a query consists of."""
    if not row:
        return []
    digit = row[0]
    row_dims = [
        dim
        for dim in dims
        if dim.digits[0].loop == digit.loop
        and digit.step <= dim.digits[0].step < digit.step * digit.extent
    ]
    if len(row) > 1 or any(dim.role != ROWS for dim in row_dims):
        raise Unsupported(ARBITRARY)
    return row_dims


def _heads(shared: list[Dim], sharing: Dim | None) -> tuple[Dim | None, Dim | None]:
    """Return the dimensions of batches and of heads of keys.

    Args:
        shared: the dimensions of all operands.
        sharing: the dimension of the heads of queries that share a head of keys.
    """
    if len(shared) > 2:
        raise Unsupported(
            f"has {len(shared)} dimensions of batches and heads that do not follow each other; the "
            "kernel has two"
        )
    ordered = sorted(shared, key=lambda dim: -dim.strides["q"])
    if sharing is None:
        head = ordered.pop() if ordered else None
    else:
        head = next((dim for dim in ordered if _follows(dim, sharing)), None)
        ordered = [dim for dim in ordered if dim is not head]
    if len(ordered) > 1:
        raise Unsupported(
            "has heads of queries that do not follow each other where they share keys"
        )
    return (ordered[0] if ordered else None), head


def _only_dim(dims: list[Dim]) -> Dim | None:
    if len(dims) > 1:
        names = " and ".join(dims[0].role)
        raise Unsupported(
            f"has {len(dims)} dimensions of {names} that do not follow each other; the kernel has one"
        )
    return dims[0] if dims else None


def _dims(operands: Mapping[str, TensorElement], row: LoopIndex) -> list[Dim]:
    """Split the loops wherever an index of an operand splits them, and return the parts as dimensions."""
    strides_by_operand = {name: _strides(element) for name, element in operands.items()}
    cuts: dict[int, set[int]] = {}
    for digit in (*row, *(digit for digits in strides_by_operand.values() for digit, _ in digits)):
        cuts.setdefault(digit.loop, set()).update((digit.step, digit.step * digit.extent))
    strides: dict[Digit, dict[str, int]] = {}
    for name, digits in strides_by_operand.items():
        for digit, stride in digits:
            for part in _parts(digit, cuts[digit.loop]):
                strides_of_part = strides.setdefault(part, {})
                if name in strides_of_part:
                    raise Unsupported(f"reads a diagonal of {name}")
                strides_of_part[name] = stride * (part.step // digit.step)
    return [
        Dim((digit,), digit.extent, strides_of_digit) for digit, strides_of_digit in strides.items()
    ]


def _parts(digit: Digit, cuts: Iterable[int]) -> list[Digit]:
    """Split a digit at the steps of `cuts`."""
    inside = sorted(cut for cut in cuts if digit.step <= cut <= digit.step * digit.extent)
    parts: list[Digit] = []
    for low, high in pairwise(inside):
        if high % low:
            raise Unsupported("divides a dimension in two ways that do not go together")
        parts.insert(0, Digit(digit.loop, low, high // low))
    return parts


def _strides(element: TensorElement) -> list[tuple[Digit, int]]:
    """Return the digits of an element's indices, with the stride of each, in elements."""
    shape = shape_of(element)
    steps: list[tuple[Digit, int]] = []
    for dim, index in enumerate(element.indices):
        if prod(digit.extent for digit in index) != shape[dim]:
            raise Unsupported("reads a part of a tensor")
        stride = prod(shape[dim + 1 :])
        for digit in reversed(index):
            steps.append((digit, stride))
            stride *= digit.extent
    return steps


def _merge_dims(dims: list[Dim], ordered: bool) -> list[Dim]:
    """Merge collapsible dimensions of one role.

    Args:
        dims: the dimensions.
        ordered: whether the order of indices matters, so that only parts of one loop are merged.
    """
    merged = list(dims)
    pairs = [(first, second) for first in merged for second in merged if first is not second]
    while pairs:
        first, second = pairs.pop()
        if not _follows(first, second) or (ordered and not _is_one_loop(first, second)):
            continue
        merged = [dim for dim in merged if dim is not first and dim is not second]
        joined = Dim(
            first.digits + second.digits, first.extent * second.extent, dict(second.strides)
        )
        merged.append(joined)
        pairs = [(first, second) for first in merged for second in merged if first is not second]
    return merged


def _follows(first: Dim, second: Dim) -> bool:
    """Whether `first.stride == second.stride * second.extent` in all operands that have both."""
    return all(
        first.strides[name] == stride * second.extent
        for name, stride in second.strides.items()
        if name in first.strides
    )


def _is_one_loop(first: Dim, second: Dim) -> bool:
    high, low = first.digits[-1], second.digits[0]
    return high.loop == low.loop and high.step == low.step * low.extent
