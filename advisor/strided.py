"""A tile from a shape and strides, as NumPy describes an array."""

from __future__ import annotations

from collections.abc import Sequence

from ..layout import Element, LayoutError, Mode, Swizzle, TileLayout


def strided(
    shape: Sequence[int],
    strides: Sequence[int],
    element: Element,
    swizzle: Swizzle = Swizzle.NONE,
    in_bytes: bool = False,
) -> TileLayout:
    """Return the tile with a shape and strides.

    Args:
        shape: (rows, columns), or (stages, rows, columns).
        strides: one per extent, in elements, or in bytes.
        element: the element type.
        swizzle: the swizzling mode.
        in_bytes: whether the strides count bytes, as NumPy's do.

    Raises:
        LayoutError: if the numbers of strides and extents differ, the rank is not 2 or 3, or a stride in
            bytes is not a multiple of the element size.

    Example:
        >>> strided((64, 64), (128, 2), element("bf16"), Swizzle.B128, in_bytes=True).cute
        'Swizzle<3,4,3> o (64,64):(64,1)'
    """
    if len(shape) != len(strides):
        raise LayoutError(
            f"{len(shape)} extents and {len(strides)} strides; expected one for each dimension"
        )
    if len(shape) not in (2, 3):
        raise LayoutError(
            f"a tile has rows and columns, or stages, rows and columns, not {len(shape)} extents"
        )
    elements: list[int] = []
    for stride in strides:
        bits = stride * (8 if in_bytes else element.bits)
        if bits % element.bits:
            raise LayoutError(
                f"a stride of {stride} bytes is not a multiple of the {element.bits // 8} bytes of "
                f"{element}"
            )
        elements.append(bits // element.bits)
    modes = tuple((Mode(extent, stride),) for extent, stride in zip(shape, elements, strict=True))
    return TileLayout(element, tuple(shape), modes, swizzle)
