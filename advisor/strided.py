"""A tile as NumPy describes an array: its shape and strides."""

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
    """The tile of that shape and those strides.

    Args:
        shape: (rows, columns), or (stages, rows, columns).
        strides: as many, in elements.
        element: the element type.
        swizzle: the swizzling mode that it was written with.
        in_bytes: whether the strides count bytes, as NumPy's do.

    Raises:
        LayoutError: if there are not as many strides as extents, the rank is another one, or a stride in
            bytes is no whole number of elements.
    """
    if len(shape) != len(strides):
        raise LayoutError(
            f"{len(shape)} extents and {len(strides)} strides; expected one for each dimension"
        )
    if len(shape) not in (2, 3):
        raise LayoutError(
            f"a tile has rows and columns, or stages in front, not {len(shape)} extents"
        )
    elements: list[int] = []
    for stride in strides:
        bits = stride * (8 if in_bytes else element.bits)
        if bits % element.bits:
            raise LayoutError(
                f"a stride of {stride} bytes is no whole number of {element} elements of "
                f"{element.bits // 8}"
            )
        elements.append(bits // element.bits)
    modes = tuple((Mode(extent, stride),) for extent, stride in zip(shape, elements, strict=True))
    return TileLayout(element, tuple(shape), modes, swizzle)
