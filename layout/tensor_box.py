"""The boxes in which bulk tensor copies (TMA) move a tile, and how the CTAs of a cluster share them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .elements import UNIT_BYTES
from .modes import LayoutError, Multiple, Start
from .swizzle import Swizzle
from .tile import Slice, TileLayout

#: The largest extent of a box along a dimension, in elements (CUDA driver API, cuTensorMapEncodeTiled).
MAX_BOX = 256

#: Elements of a line of every box of padded types (PTX ISA 9.7.9.27.1.1).
PADDED_BOX = 128

#: Alignment of the address and strides of an array of padded types, in bytes (CUDA driver API,
#: cuTensorMapEncodeTiled).
PADDED_ALIGNMENT = 32

#: Alignment of a bulk tensor copy in shared memory, in bytes (PTX ISA 9.7.9.27.1.2).
ALIGNMENT = 128


@dataclass(frozen=True)
class TensorBox:
    """The box of a tensor map, and the copies that fill a tile with it.

    A copy writes the lines of a box one after the other, each along the contiguous dimension, and
    swizzles by the absolute address, like the tile's layout.

    Attributes:
        shape: (rows, columns) of a box, in elements.
        contiguous: the dimension of a line.
        swizzle: the tensor map's swizzle.
        places: for each copy, (row, column) of the box's first element in the tile.
        offsets: for each copy, elements from the tile's start to the box, before the swizzle.
    """

    shape: tuple[int, int]
    contiguous: int
    swizzle: Swizzle
    places: tuple[tuple[int, int], ...]
    offsets: tuple[int, ...]


def tensor_box(layout: TileLayout) -> TensorBox:
    """Return the largest box whose copies fill a tile (rows, columns).

    Raises:
        LayoutError: if there is none.
    """
    if len(layout.shape) != 2:
        raise LayoutError(f"a tile of rank {len(layout.shape)} is copied one stage at a time")
    if layout.origin:
        raise LayoutError("the subtile cuts an atom; boxes are whole atoms")
    contiguous = layout.contiguous_dim
    if contiguous is None:
        raise LayoutError("the tile is contiguous along no dimension; a box has lines")
    element, swizzle = layout.element, layout.swizzle
    modes = layout.coalesced().modes
    line, across = modes[contiguous][0], modes[1 - contiguous][0]
    extent = line.extent
    if swizzle is not Swizzle.NONE:
        # A box is at most as wide as the swizzle; the atoms of a wider tile are separate boxes.
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
            f"lines of {extent} elements are {across.stride} elements apart; the lines of a tensor map's "
            "box are adjacent"
        )
    alignment = least_alignment(layout)
    lines = _largest_subtile(across.extent, MAX_BOX, -(-8 * alignment // (extent * element.bits)))
    shape = (lines, extent) if contiguous == 1 else (extent, lines)
    if layout.shape[0] % shape[0] or layout.shape[1] % shape[1]:
        raise LayoutError(
            f"boxes of {shape[0]}x{shape[1]} elements do not divide a tile of "
            f"{layout.shape[0]}x{layout.shape[1]}"
        )
    places = tuple(_places(layout.shape, shape))
    # No box cuts an atom, so that the offset of its first element is the box's.
    first = layout.linear_at(*np.array(places).T)
    offsets = tuple(map(int, first))
    for offset in offsets:
        if offset * element.bits % (8 * alignment):
            raise LayoutError(
                f"a box of {shape[0]}x{shape[1]} begins {offset * element.bits // 8} bytes into the "
                f"tile, no multiple of {alignment}"
            )
    return TensorBox(shape, contiguous, swizzle, places, offsets)


def least_alignment(layout: TileLayout) -> int:
    """Return the alignment of a tile's bulk copies in shared memory, in bytes: TMA's own, and that of the
    swizzle's pattern, since TMA swizzles by absolute addresses."""
    return max(ALIGNMENT, layout.alignment)


def check_start(subtile: Slice) -> None:
    """Check that the start of a subtile is aligned for bulk copies.

    Raises:
        LayoutError: if it may not be.
    """
    alignment, bits = least_alignment(subtile.layout), subtile.layout.element.bits
    if subtile.multiple * bits % (8 * alignment):
        raise LayoutError(
            f"the subtile begins at multiples of {subtile.multiple * bits // 8} bytes in its tile; TMA "
            f"needs multiples of {alignment}"
        )


def _places(shape: tuple[int, ...], box: tuple[int, int]) -> Iterator[tuple[int, int]]:
    for column in range(0, shape[1], box[1]):
        for row in range(0, shape[0], box[0]):
            yield row, column


def _largest_subtile(extent: int, limit: int, multiple: int = 1) -> int:
    """Return the largest divisor of an extent within a limit.

    If the extent itself exceeds the limit, a divisor that is a multiple of `multiple` is preferred.
    """
    divisors = [divisor for divisor in range(min(extent, limit), 0, -1) if extent % divisor == 0]
    return next(
        (divisor for divisor in divisors if divisor == extent or divisor % multiple == 0),
        divisors[0],
    )


@dataclass(frozen=True)
class Share:
    """The share of one CTA in the multicast copy of a tile.

    Attributes:
        dim: the dimension that is divided.
        extent: elements of a share along `dim`.
        subtile: a share, as a slice of the tile that begins at a multiple of `extent`.
        box: the box that copies a share.
    """

    dim: int
    extent: int
    subtile: Slice
    box: TensorBox


def share_of(layout: TileLayout, ctas: int) -> Share:
    """Return the share of each of a number of CTAs that multicast equal subtiles of a tile to each other.

    The dimension that gives each CTA fewer copies is divided; if both give the same number, the dimension
    across the lines.

    Raises:
        LayoutError: if neither dimension can be divided.
    """
    contiguous = tensor_box(layout).contiguous
    shares: list[Share] = []
    refusals = []
    for dim in (1 - contiguous, contiguous):
        try:
            shares.append(_share(layout, dim, ctas))
        except LayoutError as error:
            refusals.append(str(error))
    if not shares:
        raise LayoutError(f"{ctas} CTAs cannot share its copy: " + "; ".join(refusals))
    return min(shares, key=lambda share: len(share.box.places))


def _share(layout: TileLayout, dim: int, ctas: int) -> Share:
    extent, remainder = divmod(layout.shape[dim], ctas)
    if remainder:
        raise LayoutError(f"{layout.shape[dim]} elements do not divide by {ctas}")
    starts: list[Start] = [0, 0]
    sizes = list(layout.shape)
    starts[dim], sizes[dim] = Multiple(extent), extent
    subtile = layout.slice(starts, sizes)
    check_start(subtile)
    return Share(dim, extent, subtile, tensor_box(subtile.layout))
