"""A tile's layout: the offset of each element of a tile in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from math import gcd, prod

import numpy as np

from .elements import WINDOW_BYTES, Element
from .modes import (
    LayoutError,
    Mode,
    Multiple,
    Start,
    Term,
    first_multiple,
    format_origin,
    slice_dim,
    start_text,
)
from .overlap import Pair, shared_place, shared_text
from .swizzle import Swizzle

#: Layouts of 2^59 bytes or more are refused: NumPy's 64-bit integers could not count their bits.
SPAN_BITS = 59


def size_problem(element: Element, shape: Sequence[int]) -> str | None:
    """Return why shared memory cannot hold a tile of that shape, or None."""
    size = -(-prod(shape) * element.bits // 8)
    if size <= WINDOW_BYTES:
        return None
    return (
        f"a tile of {'x'.join(map(str, shape))}x{element} has {size} bytes; shared memory has less than "
        f"{WINDOW_BYTES}"
    )


@dataclass(frozen=True)
class Slice:
    """A subtile: its layout, and where it begins within the tile.

    Attributes:
        layout: the layout of the subtile. Its swizzle still refers to the tile's addresses.
        offset: elements from the tile's start to the start of the modes of `layout`, before the swizzle;
            the static part.
        terms: the terms that run-time starts add to `offset`.

    Example:
        >>> tile = tile_of_atoms(element("bf16"), (64, 64), 1, Swizzle.B128)
        >>> tile.slice((8, 0), (8, 64)).offset  # elements: the second swizzle atom
        512
    """

    layout: TileLayout
    offset: int
    terms: tuple[Term, ...] = ()

    @property
    def multiple(self) -> int:
        """A divisor of the offset of the modes for all run-time starts, in elements; 0 if it is 0."""
        return gcd(self.offset, *(term.multiple for term in self.terms))

    @property
    def first_multiple(self) -> int:
        """A divisor of the offset of the first element; `multiple` unless the slice cuts an atom."""
        firsts = map(first_multiple, self.layout.modes, self.layout.origins)
        return gcd(self.multiple, *firsts)

    def then(self, inner: Slice) -> Slice:
        """Return the slice `inner` of this slice, as a slice of the tile; terms keep their order."""
        return Slice(inner.layout, self.offset + inner.offset, self.terms + inner.terms)


@dataclass(frozen=True)
class TileLayout:
    """A tile's shape, its modes per logical dimension (innermost first) and a swizzle.

    CuTe writes it `Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))`. Strides are in elements (b1 has no
    stride in bytes); quantities in bytes are derived. The last two dimensions are (row, column); a
    leading dimension is the pipeline stage. The modes of a dimension may cover more than its extent: the
    tile is then padded to whole atoms.

    A subtile that cuts an atom keeps whole modes of the tile; `origin` is the position of its first
    element within them, for each dimension. An origin that is a `Multiple` is known at run time only. All
    other layouts have the origin ().

    Raises:
        LayoutError: if the modes of a dimension do not cover its extent, or have an atom that it does not
            reach.

    Example:
        >>> tile = tile_of_atoms(element("bf16"), (64, 64), contiguous=1, swizzle=Swizzle.B128)
        >>> tile.cute, tile.size_bytes
        ('Swizzle<3,4,3> o (64,64):(64,1)', 8192)
        >>> tile.offsets()[1, :16:8].tolist()  # bytes: unit 0 of row 1 is stored at unit 1
        [144, 128]
        >>> half = tile.slice((0, 32), (64, 32))
        >>> half.layout.shape, half.offset  # elements
        ((64, 32), 32)
    """

    element: Element
    shape: tuple[int, ...]
    modes: tuple[tuple[Mode, ...], ...]
    swizzle: Swizzle = Swizzle.NONE
    origin: tuple[Start, ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash((self.element, self.shape, self.modes, self.swizzle, self.origin))

    def __hash__(self) -> int:
        # Cached: layouts are keys of caches, and hashing all modes takes as long as some cached results.
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        # Hashes differ between processes.
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    def __post_init__(self) -> None:
        if len(self.shape) != len(self.modes):
            raise LayoutError(
                f"a layout of rank {len(self.modes)} does not fit a tile of rank {len(self.shape)}"
            )
        if self.origin and (len(self.origin) != len(self.shape) or not any(self.origin)):
            raise LayoutError(
                f"the origin ({', '.join(map(start_text, self.origin))}) does not fit a subtile of rank "
                f"{len(self.shape)}; expected a start for each dimension, not all of them 0"
            )
        for dim, (extent, modes) in enumerate(zip(self.shape, self.modes, strict=True)):
            if extent < 1 or not modes or any(m.extent < 1 or m.stride < 0 for m in modes):
                raise LayoutError(f"dimension {dim} has no valid extents and strides: {modes}")
            self._check_cover(dim, prod(m.extent for m in modes), modes)

    def _check_cover(self, dim: int, covered: int, modes: tuple[Mode, ...]) -> None:
        extent, origin = self.shape[dim], self.origins[dim]
        inner = prod(m.extent for m in modes[:-1])
        if isinstance(origin, Multiple):
            # The modes are those of the whole tile.
            fits = extent <= covered
        else:
            fits = covered - inner < origin + extent <= covered and origin >= 0
        if not fits:
            begins = f" from {start_text(origin)}" if origin else ""
            raise LayoutError(
                f"dimension {dim} has {extent} elements{begins}, but its modes cover {covered}"
            )

    # Properties.

    @property
    def cute(self) -> str:
        """The modes in CuTe's notation, without the origin; the swizzle is always written."""

        def group(values: Sequence[int]) -> str:
            return str(values[0]) if len(values) == 1 else f"({','.join(map(str, values))})"

        extents = ",".join(group([m.extent for m in modes]) for modes in self.modes)
        strides = ",".join(group([m.stride for m in modes]) for modes in self.modes)
        return f"{self.swizzle.cute} o ({extents}):({strides})"

    @property
    def origins(self) -> tuple[Start, ...]:
        """The position of the first element within the modes, for each dimension."""
        return self.origin or (0,) * len(self.shape)

    @property
    def has_static_origin(self) -> bool:
        """Whether the origin is static: each element then has a known offset from the modes' start."""
        return all(isinstance(o, int) for o in self.origin)

    @property
    def size_bytes(self) -> int:
        """Bytes from the tile's start to its end, rounded up to whole lines of the swizzle's width."""
        last = sum((m.extent - 1) * m.stride for modes in self.modes for m in modes)
        bits = (last + 1) * self.element.bits
        row = self.swizzle.width * 8
        return -(-bits // row) * self.swizzle.width

    @property
    def alignment(self) -> int:
        """Alignment of the tile's start for base offset 0, in bytes."""
        return self.swizzle.pattern_bytes

    @property
    def contiguous_dim(self) -> int | None:
        """The dimension along which neighbouring elements are adjacent in memory, or None."""
        for dim, modes in enumerate(self.modes):
            if next((m.stride for m in modes if m.extent > 1), None) == 1:
                return dim
        return None

    def linear(self) -> np.ndarray:
        """Return the offset of each element in elements, before the swizzle: int64, of the tile's shape.

        Raises:
            LayoutError: if it depends on a run-time origin, or shared memory cannot hold the tile.
        """
        if problem := size_problem(self.element, self.shape):
            raise LayoutError(problem)
        return self.linear_at(*np.ogrid[tuple(slice(extent) for extent in self.shape)])

    def linear_at(self, *index: np.ndarray) -> np.ndarray:
        """Return the offsets in elements, before the swizzle, of the elements at `index`.

        Args:
            index: one array for each dimension.

        Raises:
            LayoutError: if they depend on a run-time origin, or the tile spans 2^59 bytes or more.
        """
        if not self.has_static_origin:
            raise LayoutError(f"the offsets of the elements of {self} are known at run time only")
        if self.size_bytes >> SPAN_BITS:
            raise LayoutError(f"the layout {self} spans {self.size_bytes} bytes")
        total = np.int64(0)
        for along, modes, origin in zip(index, self.modes, self.origins, strict=True):
            position = along + origin
            for mode in modes:
                total = total + position % mode.extent * mode.stride
                position = position // mode.extent
        return np.asarray(total)

    def offsets(self) -> np.ndarray:
        """Return the byte offset of each element from the (aligned) start: int64, of the tile's shape.

        Elements of b1 share bytes: element `i` of a byte is its bit `i % 8`.

        Raises:
            LayoutError: see `linear`.
        """
        return self._bytes(self.linear())

    def offsets_at(self, *index: np.ndarray) -> np.ndarray:
        """Return the byte offsets of the elements at `index`, one array a dimension; see `offsets`."""
        return self._bytes(self.linear_at(*index))

    def _bytes(self, linear: np.ndarray) -> np.ndarray:
        return self.swizzle.apply(linear * self.element.bits // 8)

    def overlap(self) -> Pair | None:
        """Return the indices of two elements with the same offset, or None if there are none."""
        modes = sorted(
            (m for modes in self.modes for m in modes if m.extent > 1), key=lambda m: m.stride
        )
        if (not modes or modes[0].stride > 0) and all(
            outer.stride >= inner.stride * inner.extent for inner, outer in pairwise(modes)
        ):
            return None
        return shared_place(self.with_origin().linear())

    def overlap_problem(self) -> str | None:
        """Return why two elements with the same offset make the layout unusable, or None.

        Raises:
            LayoutError: see `linear`.
        """
        pair = self.overlap()
        if pair is None:
            return None
        tile = self.with_origin()
        linear = tile.linear_at(*(np.array([index]) for index in pair[0]))
        bits = int(tile.swizzle.apply(linear * self.element.bits // 8)[0]) * 8
        place = bits + int(linear[0]) * self.element.bits % 8
        repeats = any(m.extent > 1 and not m.stride for modes in self.modes for m in modes)
        why = "; a stride of 0 repeats elements, which no tile does" if repeats else ""
        return f"the layout {self} puts {shared_text(pair, place, self.element.bits)}{why}"

    # Derived layouts.

    def with_origin(self, *positions: int) -> TileLayout:
        """Return the layout with these numbers as its run-time origins; missing numbers are 0."""
        remaining = iter(positions)
        origins = [next(remaining, 0) if isinstance(o, Multiple) else o for o in self.origins]
        modes = tuple(map(_coalesce_dim, self.shape, self.modes, origins))
        return replace(self, modes=modes, origin=_normalize_origin(origins))

    def coalesced(self) -> TileLayout:
        """Return the same map with as few modes as possible; layouts are compared in this form."""
        return _coalesce(self)

    def transposed(self) -> TileLayout:
        """Return the same tile with rows and columns exchanged (the last two dimensions)."""
        return replace(
            self,
            shape=(*self.shape[:-2], self.shape[-1], self.shape[-2]),
            modes=(*self.modes[:-2], self.modes[-1], self.modes[-2]),
            origin=self.origin and (*self.origin[:-2], self.origin[-1], self.origin[-2]),
        )

    def slice(self, starts: Sequence[Start], sizes: Sequence[int]) -> Slice:
        """Return the subtile that begins at `starts` and has `sizes` elements along each dimension.

        Its layout has an origin if it cuts an atom.

        Raises:
            LayoutError: if it is not inside the tile.
        """
        if not len(starts) == len(sizes) == len(self.shape):
            raise LayoutError(
                f"a slice of a tile of rank {len(self.shape)} takes {len(self.shape)} starts and "
                f"sizes, not {len(starts)} and {len(sizes)}"
            )
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
        tile_modes = self.coalesced().modes
        dims = [
            slice_dim(dim, tile_modes[dim], self.origins[dim], start, size)
            for dim, (start, size) in enumerate(zip(starts, sizes, strict=True))
        ]
        modes = tuple(dim.modes for dim in dims)
        origin = _normalize_origin([dim.origin for dim in dims])
        layout = TileLayout(self.element, tuple(sizes), modes, self.swizzle, origin)
        terms = tuple(term for dim in dims for term in dim.terms)
        return Slice(layout.coalesced(), sum(dim.offset for dim in dims), terms)

    def stage(self, index: Start) -> Slice:
        """Return one pipeline stage: element `index` of the leading dimension, which is dropped."""
        subtile = self.slice((index, *[0] * (len(self.shape) - 1)), (1, *self.shape[1:]))
        layout = subtile.layout
        origin = _normalize_origin(layout.origins[1:])
        dropped = replace(layout, shape=self.shape[1:], modes=layout.modes[1:], origin=origin)
        return replace(subtile, layout=dropped)

    def __str__(self) -> str:
        begins = f" from {format_origin(self.origin)}" if self.origin else ""
        return self.cute + begins


def _normalize_origin(origin: Sequence[Start]) -> tuple[Start, ...]:
    """Return an origin, or () if it is 0 along each dimension."""
    return tuple(origin) if any(origin) else ()


@lru_cache(maxsize=4096)
def _coalesce(layout: TileLayout) -> TileLayout:
    dims = map(_coalesce_dim, layout.shape, layout.modes, layout.origins)
    return replace(layout, modes=tuple(dims))


def _coalesce_dim(extent: int, modes: tuple[Mode, ...], origin: Start) -> tuple[Mode, ...]:
    coalesced: list[Mode] = []
    for mode in modes:
        if mode.extent == 1:
            continue
        if coalesced and coalesced[-1].stride * coalesced[-1].extent == mode.stride:
            coalesced[-1] = Mode(coalesced[-1].extent * mode.extent, coalesced[-1].stride)
        else:
            coalesced.append(mode)
    if coalesced and isinstance(origin, int):
        end = origin + extent
        while len(coalesced) > 1 and end <= prod(m.extent for m in coalesced[:-1]):
            coalesced.pop()
        inner = prod(m.extent for m in coalesced[:-1])
        coalesced[-1] = Mode(-(-end // inner), coalesced[-1].stride)
        if coalesced[-1].extent == 1:
            coalesced.pop()
    return tuple(coalesced) or (Mode(1, 0),)
