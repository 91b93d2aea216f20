"""The boxes by which bulk tensor copies (TMA) move a tile, and how the blocks of a cluster share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .elements import UNIT_BYTES
from .modes import LayoutError, Multiple, Start
from .swizzle import Swizzle
from .tile import Slice, TileLayout

#: Most elements of a box along a dimension (CUDA driver API, cuTensorMapEncodeTiled).
MAX_BOX = 256

#: Elements of a line of a box of padded types, always (PTX ISA 9.7.9.27.1.1).
PADDED_BOX = 128

#: Bytes that the address and strides of an array of padded types are multiples of (CUDA driver API,
#: cuTensorMapEncodeTiled).
PADDED_ALIGNMENT = 32

#: Bytes that the shared memory side of a bulk tensor copy is aligned to (PTX ISA 9.7.9.27.1.2).
ALIGNMENT = 128


@dataclass(frozen=True)
class TensorBox:
    """The box of a tensor map, and the copies of it that a tile is made of.

    A copy writes a box's lines one after the other, each along the contiguous dimension, and swizzles
    by the absolute address, as the tile's layout does.

    Attributes:
        shape: (rows, columns) of a box, in elements.
        contiguous: the dimension along which a line runs.
        swizzle: the tensor map's swizzle.
        places: for each copy, where its box begins in the tile: (row, column).
        offsets: for each copy, elements from the tile's start to the box, before the swizzle.
    """

    shape: tuple[int, int]
    contiguous: int
    swizzle: Swizzle
    places: tuple[tuple[int, int], ...]
    offsets: tuple[int, ...]


def tensor_box(layout: TileLayout) -> TensorBox:
    """The largest box whose copies fill a tile (rows, columns).

    Raises:
        LayoutError: if no box does.
    """
    if len(layout.shape) != 2:
        raise LayoutError(f"a tile of rank {len(layout.shape)} is copied one stage at a time")
    if layout.origin:
        raise LayoutError("the part cuts an atom; boxes are whole atoms")
    contiguous = layout.contiguous_dim
    if contiguous is None:
        raise LayoutError("the tile is contiguous along no dimension; a box has lines")
    element, swizzle = layout.element, layout.swizzle
    modes = layout.coalesced().modes
    line, across = modes[contiguous][0], modes[1 - contiguous][0]
    extent = line.extent
    if swizzle is not Swizzle.NONE:
        # A box is as wide as the swizzle at most; single lines of a longer run do not lie together.
        extent = min(extent, swizzle.atom_elements(element))
    # Bits are copied as bytes.
    packed = max(1, 8 // element.bits)
    extent = _largest_subtile(extent, packed * MAX_BOX)
    if extent * element.bits % (8 * UNIT_BYTES):
        raise LayoutError(
            f"a line of {extent} elements of {element} is no multiple of {UNIT_BYTES} bytes"
        )
    if element.padding and extent != PADDED_BOX:
        raise LayoutError(
            f"lines of {extent} elements of {element}, but TMA pads lines of exactly {PADDED_BOX}, with "
            f"swizzle {Swizzle.B128} or {Swizzle.B128_ATOM_32B}"
        )
    if across.extent > 1 and across.stride != extent:
        raise LayoutError(
            f"lines of {extent} elements lie {across.stride} apart; a box of a tensor map has its "
            "lines next to each other"
        )
    least = least_alignment(layout)
    lines = _largest_subtile(across.extent, MAX_BOX, -(-8 * least // (extent * element.bits)))
    shape = (lines, extent) if contiguous == 1 else (extent, lines)
    if layout.shape[0] % shape[0] or layout.shape[1] % shape[1]:
        raise LayoutError(
            f"boxes of {shape[0]}x{shape[1]} elements do not divide a tile of "
            f"{layout.shape[0]}x{layout.shape[1]}"
        )
    places = tuple(_places(layout.shape, shape))
    # No box cuts an atom, so it begins with its first element.
    first = layout.linear_at(*np.array(places).T)
    offsets = tuple(map(int, first))
    for offset in offsets:
        if offset * element.bits % (8 * least):
            raise LayoutError(
                f"a box of {shape[0]}x{shape[1]} begins {offset * element.bits // 8} bytes into the "
                f"tile, no multiple of {least}"
            )
    return TensorBox(shape, contiguous, swizzle, places, offsets)


def least_alignment(layout: TileLayout) -> int:
    """What the shared memory side of a tile's copies is aligned to, in bytes: patterns of the swizzle,
    which TMA counts from absolute addresses, and what TMA itself wants."""
    return max(ALIGNMENT, layout.alignment)


def check_start(subtile: Slice) -> None:
    """Checks that a part of a tile begins where copies can.

    Raises:
        LayoutError: if it may begin elsewhere.
    """
    least, bits = least_alignment(subtile.layout), subtile.layout.element.bits
    if subtile.multiple * bits % (8 * least):
        raise LayoutError(
            f"the part begins at multiples of {subtile.multiple * bits // 8} bytes in its tile; TMA needs "
            f"multiples of {least}"
        )


def _places(shape: tuple[int, ...], box: tuple[int, int]) -> Iterator[tuple[int, int]]:
    for column in range(0, shape[1], box[1]):
        for row in range(0, shape[0], box[0]):
            yield row, column


def _largest_subtile(extent: int, limit: int, multiple: int = 1) -> int:
    """The largest divisor of an extent within a limit: all of it, or else a multiple, if one is."""
    subtiles = [subtile for subtile in range(min(extent, limit), 0, -1) if extent % subtile == 0]
    return next(
        (subtile for subtile in subtiles if subtile == extent or subtile % multiple == 0),
        subtiles[0],
    )


@dataclass(frozen=True)
class Share:
    """What one of several blocks copies of a tile that all of them get.

    Attributes:
        dim: the dimension that is divided.
        extent: elements of one share along it.
        part: a share, as a part of the tile that begins at a multiple of `extent`.
        box: how a share is copied.
    """

    dim: int
    extent: int
    subtile: Slice
    box: TensorBox


def share_of(layout: TileLayout, blocks: int) -> Share:
    """How a number of blocks share the copy of a tile: each copies an equal part of it to all of them.

    Of the two dimensions, the one is divided that leaves each block the fewer copies; between equals,
    the one across the lines.

    Raises:
        LayoutError: if neither can be.
    """
    contiguous = tensor_box(layout).contiguous
    shares: list[Share] = []
    refusals = []
    for dim in (1 - contiguous, contiguous):
        try:
            shares.append(_share(layout, dim, blocks))
        except LayoutError as error:
            refusals.append(str(error))
    if not shares:
        raise LayoutError(f"{blocks} blocks cannot share its copy: " + "; ".join(refusals))
    return min(shares, key=lambda share: len(share.box.places))


def _share(layout: TileLayout, dim: int, blocks: int) -> Share:
    extent, rest = divmod(layout.shape[dim], blocks)
    if rest:
        raise LayoutError(f"{layout.shape[dim]} elements do not divide by {blocks}")
    starts: list[Start] = [0, 0]
    sizes = list(layout.shape)
    starts[dim], sizes[dim] = Multiple(extent), extent
    subtile = layout.slice(starts, sizes)
    check_start(subtile)
    return Share(dim, extent, subtile, tensor_box(subtile.layout))
