"""A tile's layout: where each element of a tile lies in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import gcd, prod

import numpy as np

from .elements import Element
from .swizzle import Swizzle


class LayoutError(ValueError):
    """A layout, or a slice of one, that cannot be; the message says why, with the values."""


@dataclass(frozen=True)
class Mode:
    """One (extent, stride) pair of a layout; both in elements."""

    extent: int
    stride: int


@dataclass(frozen=True)
class Multiple:
    """A start that only the running kernel knows, known to be a multiple of `of` elements."""

    of: int

    def __post_init__(self) -> None:
        if self.of < 1:
            raise LayoutError(f"a start cannot be a multiple of {self.of}; expected 1 or more")


Start = int | Multiple


@dataclass(frozen=True)
class Term:
    """What a run-time start adds to a slice's offset: `start // divisor % modulus * stride` elements.

    Attributes:
        dim: the dimension whose start it is.
        divisor, modulus, stride: the numbers of the formula; `modulus` is None for the outermost
            mode, which needs none.
        multiple: a divisor of every value that the term takes, in elements.
    """

    dim: int
    divisor: int
    modulus: int | None
    stride: int
    multiple: int

    def at(self, start: int) -> int:
        """The value of the term, in elements."""
        index = start // self.divisor
        return (index if self.modulus is None else index % self.modulus) * self.stride


@dataclass(frozen=True)
class Slice:
    """A part of a tile: its own layout, and where it begins within the tile.

    Attributes:
        layout: the layout of the part. Its swizzle still refers to the tile's addresses.
        offset: elements from the tile's start, before the swizzle; what is known statically.
        terms: what run-time starts add to `offset`.
    """

    layout: TileLayout
    offset: int
    terms: tuple[Term, ...] = ()

    @property
    def multiple(self) -> int:
        """A divisor of the slice's offset whatever the run-time starts are, in elements; 0 for 0."""
        return gcd(self.offset, *(term.multiple for term in self.terms))

    def then(self, inner: Slice) -> Slice:
        """The slice `inner` of this slice, as a slice of the whole; terms keep their order."""
        return Slice(inner.layout, self.offset + inner.offset, self.terms + inner.terms)


@dataclass(frozen=True)
class TileLayout:
    """A tile's shape, its modes per logical dimension (innermost first) and a swizzle.

    It is what CuTe writes `Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))`. Strides count elements
    (b1 has no byte stride); everything in bytes is derived. The last two dimensions are (row,
    column); further ones in front are pipeline stages. The modes of a dimension may cover more than
    its extent: the tile is then padded to whole atoms.

    Raises:
        LayoutError: if the modes of a dimension do not cover it, or cover it with atoms to spare.
    """

    element: Element
    shape: tuple[int, ...]
    modes: tuple[tuple[Mode, ...], ...]
    swizzle: Swizzle = Swizzle.NONE

    def __post_init__(self) -> None:
        if len(self.shape) != len(self.modes):
            raise LayoutError(
                f"a layout of rank {len(self.modes)} does not fit a tile of rank {len(self.shape)}"
            )
        for dim, (extent, modes) in enumerate(zip(self.shape, self.modes, strict=True)):
            if extent < 1 or not modes or any(m.extent < 1 or m.stride < 0 for m in modes):
                raise LayoutError(f"dimension {dim} has no valid extents and strides: {modes}")
            covered, inner = prod(m.extent for m in modes), prod(m.extent for m in modes[:-1])
            if not covered - inner < extent <= covered:
                raise LayoutError(
                    f"dimension {dim} has {extent} elements, but its modes cover {covered}"
                )

    # What the layout says of itself.

    @property
    def size_bytes(self) -> int:
        """Bytes from the tile's start to its end, whole swizzle rows included."""
        last = sum((m.extent - 1) * m.stride for modes in self.modes for m in modes)
        bits = (last + 1) * self.element.bits
        row = self.swizzle.width * 8
        return -(-bits // row) * self.swizzle.width

    @property
    def alignment(self) -> int:
        """Bytes that the tile's start is aligned to, so that its base offset is 0."""
        return self.swizzle.pattern_bytes

    @property
    def contiguous_dim(self) -> int | None:
        """The dimension along which neighbours are adjacent in memory, if there is one."""
        for dim, modes in enumerate(self.modes):
            if next((m.stride for m in modes if m.extent > 1), None) == 1:
                return dim
        return None

    def linear(self) -> np.ndarray:
        """The element offset of each element before the swizzle: int64, of the tile's shape."""
        return self.linear_at(*np.ogrid[tuple(slice(extent) for extent in self.shape)])

    def linear_at(self, *index: np.ndarray) -> np.ndarray:
        """The element offset before the swizzle of the elements at `index`, one array a dimension."""
        total = np.int64(0)
        for along, modes in zip(index, self.modes, strict=True):
            rest = along
            for mode in modes:
                total = total + rest % mode.extent * mode.stride
                rest = rest // mode.extent
        return np.asarray(total)

    def offsets(self) -> np.ndarray:
        """The byte offset of each element from the (aligned) start: int64, of the tile's shape.

        Elements of b1 share bytes: element `i` of a byte is its bit `i % 8`.
        """
        return self.offsets_at(*np.ogrid[tuple(slice(extent) for extent in self.shape)])

    def offsets_at(self, *index: np.ndarray) -> np.ndarray:
        """The byte offset of the elements at `index`, one array a dimension; see `offsets`."""
        return self.swizzle.apply(self.linear_at(*index) * self.element.bits // 8)

    def overlap(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Two elements that lie in the same place, or None if each has its own."""
        modes = sorted(
            (m for modes in self.modes for m in modes if m.extent > 1), key=lambda m: m.stride
        )
        if (not modes or modes[0].stride > 0) and all(
            outer.stride >= inner.stride * inner.extent for inner, outer in pairwise(modes)
        ):
            return None
        flat = self.linear().ravel()
        order = np.argsort(flat, kind="stable")
        same = np.flatnonzero(flat[order][1:] == flat[order][:-1])
        if not same.size:
            return None
        first, second = order[same[0]], order[same[0] + 1]
        return tuple(
            tuple(int(i) for i in np.unravel_index(e, self.shape)) for e in (first, second)
        )  # type: ignore[return-value]

    # Other layouts made from it.

    def coalesced(self) -> TileLayout:
        """The same map with as few modes as possible: the form in which layouts are compared."""
        return _coalesced(self)

    def transposed(self) -> TileLayout:
        """The same tile with rows and columns exchanged (the last two dimensions)."""
        return replace(
            self,
            shape=(*self.shape[:-2], self.shape[-1], self.shape[-2]),
            modes=(*self.modes[:-2], self.modes[-1], self.modes[-2]),
        )

    def slice(self, starts: Sequence[Start], sizes: Sequence[int]) -> Slice:
        """The part that begins at `starts` and has `sizes` elements along each dimension.

        Raises:
            LayoutError: if it is not inside the tile, or if it cuts an atom, so that the part has
                no strides of its own.
        """
        if not len(starts) == len(sizes) == len(self.shape):
            raise LayoutError(
                f"a slice of a tile of rank {len(self.shape)} takes {len(self.shape)} starts and "
                f"sizes, not {len(starts)} and {len(sizes)}"
            )
        offset, terms, modes = 0, [], []
        for dim, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            if not 1 <= size <= self.shape[dim]:
                raise LayoutError(
                    f"a slice of {size} elements does not fit dimension {dim} of {self.shape[dim]}"
                )
            if isinstance(start, int) and not 0 <= start <= self.shape[dim] - size:
                raise LayoutError(
                    f"elements {start} to {start + size - 1} are not inside dimension {dim} of "
                    f"{self.shape[dim]}"
                )
            part = _slice_dim(dim, self.coalesced().modes[dim], start, size)
            offset += part[0]
            terms += part[1]
            modes.append(part[2])
        layout = TileLayout(self.element, tuple(sizes), tuple(modes), self.swizzle).coalesced()
        return Slice(layout, offset, tuple(terms))

    def stage(self, index: Start) -> Slice:
        """One pipeline stage: element `index` of the leading dimension, which is dropped."""
        part = self.slice((index, *[0] * (len(self.shape) - 1)), (1, *self.shape[1:]))
        dropped = replace(part.layout, shape=self.shape[1:], modes=part.layout.modes[1:])
        return replace(part, layout=dropped)

    def __str__(self) -> str:
        from .notation import format_layout

        return format_layout(self)


@lru_cache(maxsize=4096)
def _coalesced(layout: TileLayout) -> TileLayout:
    dims = []
    for extent, modes in zip(layout.shape, layout.modes, strict=True):
        kept: list[Mode] = []
        for mode in modes:
            if mode.extent == 1:
                continue
            if kept and kept[-1].stride * kept[-1].extent == mode.stride:
                kept[-1] = Mode(kept[-1].extent * mode.extent, kept[-1].stride)
            else:
                kept.append(mode)
        if kept:
            while len(kept) > 1 and extent <= prod(m.extent for m in kept[:-1]):
                kept.pop()
            inner = prod(m.extent for m in kept[:-1])
            kept[-1] = Mode(-(-extent // inner), kept[-1].stride)
            if kept[-1].extent == 1:
                kept.pop()
        dims.append(tuple(kept) or (Mode(1, 0),))
    return replace(layout, modes=tuple(dims))


def _slice_dim(
    dim: int, modes: tuple[Mode, ...], start: Start, size: int, divisor: int = 1
) -> tuple[int, list[Term], tuple[Mode, ...]]:
    """Static offset, run-time terms and modes of `size` elements from `start` along one dimension.

    `divisor` is the number of elements of the tile that one step along `modes` stands for.
    """
    inner, *outer = modes
    if not outer:
        if isinstance(start, int):
            return start * inner.stride, [], (Mode(size, inner.stride),)
        term = Term(dim, divisor, None, inner.stride, start.of * inner.stride)
        return 0, [term], (Mode(size, inner.stride),)

    step = start if isinstance(start, int) else start.of
    if isinstance(start, int):
        inside = start % inner.extent + size <= inner.extent
    else:
        inside = size <= gcd(step, inner.extent)
    if not inside and step % inner.extent:
        known = "" if isinstance(start, int) else "a multiple of "
        raise LayoutError(
            f"the slice cuts an atom: it begins at {known}{step * divisor} along dimension {dim} and "
            f"is {size * divisor} long, but atoms of {inner.extent * divisor} elements are "
            f"{outer[0].stride} elements apart; begin at a multiple of {inner.extent * divisor}, or "
            f"stay inside one atom"
        )

    upper: Start
    if isinstance(start, int):
        upper = start // inner.extent
    else:
        upper = Multiple(1 if step % inner.extent else step // inner.extent)
    if inside:
        offset, terms, _ = _slice_dim(dim, tuple(outer), upper, 1, divisor * inner.extent)
        rest: tuple[Mode, ...] = (Mode(size, inner.stride),)
    else:
        count = -(-size // inner.extent)
        offset, terms, more = _slice_dim(dim, tuple(outer), upper, count, divisor * inner.extent)
        rest = (inner, *more)
    if isinstance(start, int):
        offset += start % inner.extent * inner.stride
    elif step % inner.extent:
        multiple = gcd(step, inner.extent) * inner.stride
        terms = [Term(dim, divisor, inner.extent, inner.stride, multiple), *terms]
    return offset, terms, rest
