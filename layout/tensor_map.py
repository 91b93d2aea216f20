"""The tensor map of a tile, as a host encodes it by `cuTensorMapEncodeTiled` or upstream's `nvgpu`."""

from __future__ import annotations

from dataclasses import dataclass

from .elements import Element
from .modes import LayoutError
from .swizzle import Swizzle
from .tensor_box import TensorBox, tensor_box
from .tile import TileLayout

#: MLIR types of the elements of a tensor map, by ISA element type. b1 and e2m1 are moved as bytes.
_MLIR = {
    "f16": "f16",
    "bf16": "bf16",
    "tf32": "f32",
    "e4m3": "f8E4M3FN",
    "e5m2": "f8E5M2",
    "ue8m0": "f8E8M0FNU",
    "s8": "i8",
    "u8": "i8",
    "s32": "i32",
    "b1": "i8",
    "e2m1": "i8",
}

#: The swizzles that `!nvgpu.tensormap.descriptor` can say (NVGPU dialect, TensorMapSwizzleKind).
_NVGPU_SWIZZLES = {
    Swizzle.NONE: "none",
    Swizzle.B32: "swizzle_32b",
    Swizzle.B64: "swizzle_64b",
    Swizzle.B128: "swizzle_128b",
}


@dataclass(frozen=True)
class TensorMap:
    """What the layout of a tile requires of the tensor map that fills it.

    Attributes:
        element: the element type of the tile.
        box: `boxDim` of `cuTensorMapEncodeTiled`: the contiguous dimension first, in elements; in bytes
            for b1 and e2m1, which have several elements to a byte.
        contiguous: the dimension of the tile (0 for rows) that is the first of the box.
        swizzle: the `CUtensorMapSwizzle`: `swizzle.tensor_map` is its name, `swizzle.value` the number.
        copies: (row, column, byte) of each copy that fills the tile: where its box begins in the matrix,
            counted in elements from the tile's first, and in the memory of the tile.
    """

    element: Element
    box: tuple[int, int]
    contiguous: int
    swizzle: Swizzle
    copies: tuple[tuple[int, int, int], ...]

    def nvgpu_type(self, element: str | None = None) -> str:
        """Return the text of upstream's type of such a map, `!nvgpu.tensormap.descriptor<...>`.

        The last dimension of its memref is the contiguous one.

        Args:
            element: the MLIR element type; that of the ISA type by default (f32 for tf32, i8 for 8-bit
                integers and for types under 8 bits).

        Raises:
            LayoutError: if the type has no such swizzle, or pads elements.
        """
        if self.element.padding:
            raise LayoutError(
                f"!nvgpu.tensormap.descriptor does not pad elements of {self.element}"
            )
        if self.swizzle not in _NVGPU_SWIZZLES:
            names = ", ".join(map(str, _NVGPU_SWIZZLES))
            raise LayoutError(
                f"!nvgpu.tensormap.descriptor has no swizzle {self.swizzle}; it has {names}"
            )
        line, lines = self.box
        return (
            f"!nvgpu.tensormap.descriptor<tensor = memref<{lines}x{line}x"
            f"{element or _MLIR[self.element.name]}, 3>, swizzle = {_NVGPU_SWIZZLES[self.swizzle]}, "
            "l2promo = none, oob = zero, interleave = none>"
        )


def tensor_map(layout: TileLayout) -> TensorMap:
    """Return the tensor map whose copies fill a tile.

    Args:
        layout: the layout of a tile (rows, columns); that of one stage, if there are several.

    Returns:
        The box, the swizzle, and the copies.

    Raises:
        LayoutError: if no bulk tensor copies fill the tile.

    Example:
        >>> tile = tile_of_atoms(element("bf16"), (128, 64), 1, Swizzle.B128)
        >>> tensor_map(tile).box, tensor_map(tile).swizzle.tensor_map
        ((64, 128), 'CU_TENSOR_MAP_SWIZZLE_128B')
    """
    box = tensor_box(layout)
    bits = layout.element.bits
    copies = tuple(
        (*place, offset * bits // 8) for place, offset in zip(box.places, box.offsets, strict=True)
    )
    return TensorMap(
        layout.element, box_of_driver(box, layout.element), box.contiguous, box.swizzle, copies
    )


def map_type(element: Element) -> str | None:
    """Return the `CUtensorMapDataType` of a type that TMA pads; None for other types."""
    if not element.padding:
        return None
    return f"CU_TENSOR_MAP_DATA_TYPE_16U{element.packed_bits}_ALIGN16B"


def box_of_driver(box: TensorBox, element: Element) -> tuple[int, int]:
    """Return a box with the contiguous dimension first: in elements, or in bytes for b1 and e2m1, which
    have several elements per byte."""
    packed = max(1, 8 // element.bits)
    return box.shape[box.contiguous] // packed, box.shape[1 - box.contiguous]
