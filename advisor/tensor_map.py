"""A box of a tensor map as the driver takes it."""

from __future__ import annotations

from ..layout import Element
from ..layout.tensor_box import TensorBox


def map_type(element: Element) -> str | None:
    """The `CUtensorMapDataType` of a padded type, which TMA pads; None for other types."""
    if not element.padding:
        return None
    return f"CU_TENSOR_MAP_DATA_TYPE_16U{element.packed_bits}_ALIGN16B"


def box_of_driver(box: TensorBox, element: Element) -> tuple[int, int]:
    """A box as the driver takes it, the contiguous dimension first: elements, or bytes of b1 and e2m1, of
    which several share one."""
    packed = max(1, 8 // element.bits)
    return box.shape[box.contiguous] // packed, box.shape[1 - box.contiguous]
