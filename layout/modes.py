"""Modes along one dimension of a tile, and slices of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod


class LayoutError(ValueError):
    """An invalid layout or slice; the message states why, with the values."""


@dataclass(frozen=True)
class Mode:
    """One (extent, stride) pair of a layout; both in elements."""

    extent: int
    stride: int


@dataclass(frozen=True)
class Multiple:
    """A start that is known at run time only, and is a multiple of `of` elements."""

    of: int

    def __post_init__(self) -> None:
        if self.of < 1:
            raise LayoutError(f"a start cannot be a multiple of {self.of}; expected 1 or more")


Start = int | Multiple


def add_starts(a: Start, b: Start) -> Start:
    """Return the sum of two starts; if one is known at run time only, a `Multiple`."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return Multiple(gcd(*(x if isinstance(x, int) else x.of for x in (a, b))))


def start_text(start: Start) -> str:
    """Return a start in words."""
    return str(start) if isinstance(start, int) else f"a multiple of {start.of}"


def format_origin(origin: Sequence[Start]) -> str:
    """Return the text of an origin, for example `(0,16)`; `16n` is a run-time multiple of 16."""
    return f"({','.join(str(o) if isinstance(o, int) else f'{o.of}n' for o in origin)})"


@dataclass(frozen=True)
class Term:
    """A term that a run-time start adds to a slice's offset, in elements:
    `(position + added) // divisor % modulus * stride`.

    Attributes:
        dim: the dimension whose position it is: the start, plus the origin of the layout that is
            sliced.
        divisor, modulus, stride: the numbers of the formula; `modulus` is None for the outermost mode.
        multiple: a divisor of every value of the term, in elements.
        added: where an MMA tile begins within the operand, relative to `position`.
    """

    dim: int
    divisor: int
    modulus: int | None
    stride: int
    multiple: int
    added: int = 0

    def at(self, position: int) -> int:
        """Return the value of the term, in elements."""
        index = (position + self.added) // self.divisor
        return (index if self.modulus is None else index % self.modulus) * self.stride


@dataclass(frozen=True)
class DimSlice:
    """A slice along one dimension.

    Attributes:
        offset: elements from the tile's start to the start of `modes`; the static part.
        terms: the terms that run-time starts add to `offset`.
        modes: the modes of the slice, or the whole modes that it overlaps.
        origin: where the slice begins within `modes`.
    """

    offset: int
    terms: tuple[Term, ...]
    modes: tuple[Mode, ...]
    origin: Start = 0


def slice_dim(
    dim: int, modes: tuple[Mode, ...], origin: Start, start: Start, size: int
) -> DimSlice:
    """Return the slice of `size` elements that begins at `start` along dimension `dim`.

    A slice that begins at an atom or stays inside one has its own modes and origin 0. A slice that cuts
    an atom keeps whole modes, and has an origin within them.

    Args:
        dim: the dimension, for terms.
        modes: the modes that are sliced, innermost first.
        origin: the position of element 0 within `modes`.
        start: the first element of the slice.
        size: the number of elements.
    """
    position = add_starts(origin, start)
    if isinstance(position, int):
        return _static_slice(modes, position, size)
    dim_slice = _run_time_slice(dim, modes, position.of, size)
    if dim_slice is not None:
        return dim_slice
    inner = prod(mode.extent for mode in modes[:-1])
    return DimSlice(0, (), modes, Multiple(gcd(position.of, inner)))


def _static_slice(modes: tuple[Mode, ...], position: int, size: int) -> DimSlice:
    inner, *outer = modes
    if not outer:
        return DimSlice(position * inner.stride, (), (Mode(size, inner.stride),))
    atom, within = divmod(position, inner.extent)
    if within + size <= inner.extent:
        above = _static_slice(tuple(outer), atom, 1)
        return DimSlice(above.offset + within * inner.stride, (), (Mode(size, inner.stride),))
    above = _static_slice(tuple(outer), atom, -(-(within + size) // inner.extent))
    assert isinstance(above.origin, int)
    origin = within + above.origin * inner.extent
    return DimSlice(above.offset, (), (inner, *above.modes), origin)


def _run_time_slice(
    dim: int, modes: tuple[Mode, ...], step: int, size: int, divisor: int = 1
) -> DimSlice | None:
    """Return the slice that begins at a run-time multiple of `step`, or None if it may cut an atom.

    Args:
        dim, modes, size: as for `slice_dim`.
        step: a divisor of the slice's position within `modes`.
        divisor: elements of the tile from one index of `modes` to the next.
    """
    inner, *outer = modes
    if not outer:
        term = Term(dim, divisor, None, inner.stride, step * inner.stride)
        return DimSlice(0, (term,), (Mode(size, inner.stride),))
    inside, at_atoms = size <= gcd(step, inner.extent), step % inner.extent == 0
    if not inside and not at_atoms:
        return None
    above = _run_time_slice(
        dim,
        tuple(outer),
        step // inner.extent if at_atoms else 1,
        1 if inside else -(-size // inner.extent),
        divisor * inner.extent,
    )
    if above is None:
        return None
    terms = above.terms
    if not at_atoms:
        multiple = gcd(step, inner.extent) * inner.stride
        terms = (Term(dim, divisor, inner.extent, inner.stride, multiple), *terms)
    sliced = (Mode(size, inner.stride),) if inside else (inner, *above.modes)
    return DimSlice(0, terms, sliced)


def first_multiple(modes: tuple[Mode, ...], origin: Start) -> int:
    """Return a divisor of the offset of the element at `origin` from the modes' start, in elements."""
    if isinstance(origin, Multiple):
        divisor, step = 0, origin.of
        for mode in modes[:-1]:
            divisor = gcd(
                divisor, gcd(step, mode.extent) * mode.stride if step % mode.extent else 0
            )
            step = 1 if step % mode.extent else step // mode.extent
        return gcd(divisor, step * modes[-1].stride)
    offset, index = 0, origin
    for mode in modes[:-1]:
        offset += index % mode.extent * mode.stride
        index //= mode.extent
    return offset + index * modes[-1].stride
