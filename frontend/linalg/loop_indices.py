"""Indices of tensors as digits of loop counters, so that reshapes are regroupings of digits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from ...bindings.mlir import ir

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class Digit:
    """The digit `(counter // step) % extent` of a loop's counter.

    Attributes:
        loop: the number of the loop.
        step: the number of iterations between changes of the digit.
        extent: the number of values; dynamic only for the most significant digit of the loop.
    """

    loop: int
    step: int
    extent: int


#: An index in a mixed radix, the most significant digit first; 0 without digits.
LoopIndex = tuple[Digit, ...]


def loop_index(loop: int, extent: int) -> LoopIndex:
    """Return the index that is a loop's counter."""
    return join_indices([(Digit(loop, 1, extent),)])


def join_indices(indices: Iterable[LoopIndex]) -> LoopIndex:
    """Join indices, the most significant one first, to one index.

    Example:
        >>> join_indices([(Digit(0, 4, 2),), (Digit(0, 1, 4),), ()])
        (Digit(loop=0, step=1, extent=8),)
    """
    digits: list[Digit] = []
    for digit in (digit for index in indices for digit in index if digit.extent != 1):
        last = digits[-1] if digits else None
        if last and last.loop == digit.loop and last.step == digit.step * digit.extent:
            digits[-1] = Digit(digit.loop, digit.step, _times(last.extent, digit.extent))
        else:
            digits.append(digit)
    return tuple(digits)


def split_index(index: LoopIndex, extents: Sequence[int]) -> list[LoopIndex] | None:
    """Split an index into several; None if its digits do not divide that way.

    Args:
        index: the index.
        extents: of the parts, the most significant one first. Of those that are not 1, only the first may
            be dynamic.

    Example:
        >>> split_index((Digit(0, 1, 8),), (2, 4))
        [(Digit(loop=0, step=4, extent=2),), (Digit(loop=0, step=1, extent=4),)]
    """
    wide = [dim for dim, extent in enumerate(extents) if extent != 1]
    if len(wide) not in (0, len(extents)):
        parts_of_wide = split_index(index, [extents[dim] for dim in wide])
        if parts_of_wide is None:
            return None
        return [
            parts_of_wide[wide.index(dim)] if dim in wide else () for dim in range(len(extents))
        ]
    digits = list(index)
    parts: list[LoopIndex] = []
    for extent in reversed(extents[1:]):
        part: list[Digit] = []
        needed = extent
        while needed != 1:
            if not digits or needed == _DYNAMIC:
                return None
            digit = digits.pop()
            if digit.extent == _DYNAMIC or digit.extent > needed:
                if digit.extent != _DYNAMIC and digit.extent % needed:
                    return None
                high = _DYNAMIC if digit.extent == _DYNAMIC else digit.extent // needed
                digits.append(Digit(digit.loop, digit.step * needed, high))
                digit = Digit(digit.loop, digit.step, needed)
            elif needed % digit.extent:
                return None
            needed //= digit.extent
            part.insert(0, digit)
        parts.insert(0, join_indices([tuple(part)]))
    high_extents = [digit.extent for digit in digits]
    if _DYNAMIC not in (extents[0], *high_extents) and prod(high_extents) != extents[0]:
        return None
    return [join_indices([tuple(digits)]), *parts]


def _times(left: int, right: int) -> int:
    return _DYNAMIC if _DYNAMIC in (left, right) else left * right
