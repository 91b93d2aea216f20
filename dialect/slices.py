"""Types of slices: an element for each row, or each column, of an accumulator."""

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Type
from ..bindings.mlir import ir
from .attributes import SliceAttr, dim_of, slice_along
from .caching import cached_in_context
from .elements import accumulator_of
from .types import FragmentType, check_fragment


def slice_fragment(extent: int, element: Type, dim: int) -> Type:
    """Return the `!smem.fragment` of a slice along a dimension, of an extent and MLIR element type.

    Raises:
        Invalid: if the type is invalid.
    """
    return _make(element, extent, dim)


@cached_in_context
def _make(element: Type, extent: int, dim: int) -> Type:
    accumulator_of(element)
    if extent < 0:
        raise Invalid(f"has the shape {[extent]}; expected extents from 1")
    return FragmentType.get(ir.RankedTensorType.get([extent], element), slice_along(dim))


@cached_in_context
def slice_dim(type_: Type) -> int | None:
    """Return the dimension along which a fragment is a slice; None if it is no slice."""
    state = type_.params[1].maybe_downcast() if isinstance(type_, FragmentType) else None
    return dim_of(state) if isinstance(state, SliceAttr) else None


def check_slice_type(type_: Type) -> int:
    """Check that a fragment is a slice, and return the dimension along which it is one.

    Raises:
        Invalid: if it is none.
    """
    dim = slice_dim(type_)
    if dim is None:
        raise Invalid(f"takes a slice, not {type_}")
    check_fragment(type_)
    return dim
