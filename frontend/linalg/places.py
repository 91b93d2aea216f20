"""Indices of tensors as digits of the numbers of loops, through which reshapes can be followed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from ...bindings.mlir import ir

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class Digit:
    """(loop // step) % extent.

    Attributes:
        loop: the number of the loop.
        step: what the loop counts before the digit does.
        extent: how many values it has; dynamic only of the loop's most significant digit.
    """

    loop: int
    step: int
    extent: int


#: An index: the digits of a mixed radix, the most significant one first; 0 without digits.
Place = tuple[Digit, ...]


def counted(loop: int, extent: int) -> Place:
    """Return the place that a loop counts."""
    return joined([(Digit(loop, 1, extent),)])


def joined(places: Iterable[Place]) -> Place:
    """Return one index for several, of which the first is the most significant.

    Example:
        >>> joined([(Digit(0, 4, 2),), (Digit(0, 1, 4),), ()])
        (Digit(loop=0, step=1, extent=8),)
    """
    found: list[Digit] = []
    for digit in (digit for place in places for digit in place if digit.extent != 1):
        last = found[-1] if found else None
        if last and last.loop == digit.loop and last.step == digit.step * digit.extent:
            found[-1] = Digit(digit.loop, digit.step, _times(last.extent, digit.extent))
        else:
            found.append(digit)
    return tuple(found)


def split(place: Place, extents: Sequence[int]) -> list[Place] | None:
    """Return an index as several; None if its digits do not divide that way.

    Args:
        place: the index.
        extents: those of the several, the most significant one first. Only that one may be dynamic.

    Example:
        >>> split((Digit(0, 1, 8),), (2, 4))
        [(Digit(loop=0, step=4, extent=2),), (Digit(loop=0, step=1, extent=4),)]
    """
    rest = list(place)
    found: list[Place] = []
    for extent in reversed(extents[1:]):
        taken: list[Digit] = []
        needed = extent
        while needed != 1:
            if not rest or needed == _DYNAMIC:
                return None
            digit = rest.pop()
            if digit.extent == _DYNAMIC or digit.extent > needed:
                if digit.extent != _DYNAMIC and digit.extent % needed:
                    return None
                high = _DYNAMIC if digit.extent == _DYNAMIC else digit.extent // needed
                rest.append(Digit(digit.loop, digit.step * needed, high))
                digit = Digit(digit.loop, digit.step, needed)
            elif needed % digit.extent:
                return None
            needed //= digit.extent
            taken.insert(0, digit)
        found.insert(0, joined([tuple(taken)]))
    left = [digit.extent for digit in rest]
    if _DYNAMIC not in (extents[0], *left) and prod(left) != extents[0]:
        return None
    return [joined([tuple(rest)]), *found]


def _times(left: int, right: int) -> int:
    return _DYNAMIC if _DYNAMIC in (left, right) else left * right
