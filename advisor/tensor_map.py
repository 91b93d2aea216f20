"""A TMA box as `cuTensorMapEncodeTiled` takes it."""

from __future__ import annotations

from ..layout import Element
from ..layout.tensor_box import TensorBox


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
