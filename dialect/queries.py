"""Queries of a host compiler about the tiles and fragments in its kernel."""

from typing import Any

import numpy as np

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Type, Value
from ..bindings.mlir import ir
from ..layout import (
    TileLayout,
    a_fragment_coordinates,
    accumulator_coordinates,
    slice_coordinates,
)
from ..layout.arch import Arch
from .elements import element_of
from .slices import slice_dim
from .types import (
    FragmentType,
    TileType,
    check_fragment,
    is_accumulator,
    is_metadata,
    shape_of,
    tensor_of,
)
from .types import layout_of as layout_of_type


def layout_of(tile: Value | Type) -> TileLayout | None:
    """Return the layout of a tile, or of its type; None for `#smem.auto`.

    After `smem-assign-layouts`, every tile has a layout. `TileLayout.offsets` gives the byte offset of
    each element, `layout.affine_map` the same as a memref layout map, and `layout.tensor_map` the boxes
    and the swizzle of a tensor map.

    Args:
        tile: an MLIR value, or its type.

    Returns:
        The layout; None for `#smem.auto`.

    Raises:
        TypeError: if it is not a tile.
        Invalid: if its layout is not one.

    Example:
        >>> from mlir_smem.dialect import attributes, new_context, types
        >>> from mlir_smem.bindings import ir
        >>> with new_context():
        ...     tile = types.tile((64, 64), ir.BF16Type.get(), attributes.swizzle("128B"))
        ...     mlir_smem.layout_of(tile).offsets()[1, :3].tolist()  # bytes
        [144, 146, 148]
    """
    return layout_of_type(_type_of("layout_of", tile, TileType, "tile"))


def coordinates_of(fragment: Value | Type, arch: str = "sm_90") -> np.ndarray:
    """Return the row and column of each element that a thread holds of a fragment, in the order of
    `smem.to_registers`.

    Args:
        fragment: an MLIR value, or its type: an accumulator (in flight or not) or an A fragment.
        arch: the architecture, for example "sm_90" or "sm_100a".

    Returns:
        int64[128, elements of a thread, 2]: (row, column), by the thread of the warpgroup; of a slice
        int64[128, elements of a thread, 1]: (row) or (column). b1 is counted by elements, of which the
        vector holds 32 in an i32.

    Raises:
        TypeError: if it is not a fragment.
        Invalid: for the metadata of a sparse A, and for a fragment that no registers can hold.
        ValueError: for an unknown architecture.

    Example:
        >>> from mlir_smem.dialect import new_context, types
        >>> from mlir_smem.bindings import ir
        >>> with new_context():
        ...     accumulator = types.fragment((64, 64), ir.F32Type.get())
        ...     mlir_smem.coordinates_of(accumulator)[5, :4].tolist()  # of thread 5
        [[1, 2], [1, 3], [9, 2], [9, 3]]
    """
    type_ = _type_of("coordinates_of", fragment, FragmentType, "fragment")
    check_fragment(type_)
    architecture, dim = Arch.parse(arch), slice_dim(type_)
    if dim is not None:
        return slice_coordinates(shape_of(type_)[0], dim, architecture)[..., None]
    m, n = shape_of(type_)
    if is_accumulator(type_):
        return accumulator_coordinates(m, n, architecture)
    if is_metadata(type_):
        raise Invalid(f"expected an accumulator or an A fragment, not {type_}")
    return a_fragment_coordinates(m, n, element_of(tensor_of(type_).element_type), architecture)


def _type_of(function: str, argument: Any, expected: type, noun: str) -> Type:
    """Return the type of a value, or a type, that must be one of the dialect's."""
    type_ = argument.type if isinstance(argument, ir.Value) else argument
    if isinstance(type_, expected):
        return type_
    description = type_ if isinstance(type_, ir.Type) else f"a {type(argument).__name__}"
    raise TypeError(f"{function} takes a {noun} (!smem.{noun}) or its type, not {description}")
