"""Loads by TMA in the place of copies by all threads."""

from __future__ import annotations

from typing import NamedTuple

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op, Value
from ...dialect.divisibility import divisor
from ...dialect.ops.copy import PERMUTATION
from ...dialect.ops.tma import GLOBAL_ALIGNMENT, check_load, matrix_contiguous
from ...dialect.types import shape_of, tile_element
from ...ir.errors import OpError
from ...ir.windows import window_of
from ..check_async.integer_ranges import IntegerRanges
from ..check_async.polynomials import number
from .loads import TileLoad


class LoadedBox(NamedTuple):
    """What a load by TMA takes of an array.

    Attributes:
        array: an argument of the kernel.
        starts: the coordinates of the box, in elements.
    """

    array: Value
    starts: tuple[Value | int, ...]


def box_of(load: TileLoad, ranges: IntegerRanges) -> LoadedBox:
    """Return the box that a load copies.

    Raises:
        OpError: if TMA cannot load it.
    """
    copy = load.copy
    if PERMUTATION in copy.attributes and copy.permutation != (0, 1):
        raise OpError(copy, "exchanges rows and columns, which TMA does not")
    window = window_of(copy.source)
    if window is None or window.transpose is not None:
        raise OpError(copy, "copies from no window of an argument, which TMA needs")
    rank = len(window.starts)
    shape = shape_of(load.tile.type)
    if window.kept != (rank - 2, rank - 1) or window.sizes[-2:] != shape:
        raise OpError(copy, "copies a window that has not the last two dimensions of its array")
    try:
        check_load(window.array.type, load.tile.type, rank)
    except Invalid as error:
        raise OpError(copy, f"cannot be a load by TMA, which {error}") from None
    _check_starts(copy, window.array, window.starts, ranges, tile_element(load.tile.type).bits)
    return LoadedBox(window.array, window.starts)


def _check_starts(
    copy: Op, array: Value, starts: tuple[Value | int, ...], ranges: IntegerRanges, bits: int
) -> None:
    """Check where a box begins: TMA reads elements from a negative start on, of which a window has none.

    Raises:
        OpError: if it may begin elsewhere.
    """
    contiguous = matrix_contiguous(array.type)
    for dim, start in enumerate(starts):
        known = number(start) if isinstance(start, int) else ranges.values.polynomial(start)
        if not ranges.is_natural_at(copy, known):
            raise OpError(
                copy, f"may begin before its array along dimension {dim}; assume it is >= 0"
            )
        unit = start if isinstance(start, int) else divisor(start)
        if dim == contiguous and unit * bits % (8 * GLOBAL_ALIGNMENT):
            raise OpError(
                copy,
                f"begins at multiples of {unit} elements of {bits} bits along dimension {dim}; TMA needs "
                f"multiples of {GLOBAL_ALIGNMENT} bytes",
            )
