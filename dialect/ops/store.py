"""`smem.store`: an accumulator to global memory or to a tile, a slice to global memory."""

from typing import Any

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Type
from ...bindings.mlir import ext
from ...layout import LayoutError
from ...layout.uses import FragmentUse, Use
from ..arguments import Fragment, TileOrMemref
from ..build import create
from ..builder import builder
from ..caching import cached_in_context
from ..effects import Effects, Scope, write
from ..elements import tile_element_types
from ..op import SmemOp
from ..optional_attributes import positive_attribute
from ..slices import slice_dim
from ..types import (
    FragmentType,
    TileType,
    check_fragment,
    check_readable,
    fragment_accumulator,
    layout_of,
    shape_of,
    tensor_of,
)
from ..uses import Chooser, Path
from ..verifier import verifier
from .load import (
    MATRIX_ROWS,
    access_of,
    check_matrix,
    check_matrix_rows,
    check_vector,
    shape_in_memory,
)

#: Element types in memory that an accumulator can be stored as, by accumulator type.
STORED = {
    "f32": ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"),
    "f16": ("f16", "f32", "f8E4M3FN", "f8E5M2"),
    "bf16": ("bf16", "f32", "f8E4M3FN", "f8E5M2"),
    "e4m3": ("f8E4M3FN",),
    "e5m2": ("f8E5M2",),
    "s32": ("i32", "i8", "si8", "ui8"),
    "s16": ("i16",),
    "s8": ("i8", "si8"),
    "u8": ("ui8",),
    "s4": ("i8", "si8", "ui8"),
    "u4": ("i8", "si8", "ui8"),
}


class StoreOp(SmemOp, name="store"):
    """Stores the accumulator `fragment` to `target`, a matrix in global memory or a tile, converted to
    its element type; or a slice to `target`, a vector in global memory (a memref of rank 1), of which one
    thread stores each element.

    Floats are rounded to nearest even. 8-bit types saturate to their finite range. Elements of 4 bits are
    stored to half as many columns of 8 bits, the even column in the lower four bits.

    A matrix with a dynamic number of rows or columns, which may be more or fewer than the fragment's,
    gets the elements that it has, and so does a vector with a dynamic extent.

    A memref of rank 3 in global memory, G x R x N, has the fragment's G * R rows in its two first
    dimensions: R rows of each of G matrices. If R is dynamic, the fragment has its rows divided by G for
    each matrix, which gets those that it has; if G is dynamic, the matrices that there are get R rows
    each. If both are, `matrix_rows` is the fragment's rows for each matrix. So has a memref of rank 2 the
    elements of a slice.

    In row-major global memory, pairs of adjacent columns are stored together, unless rows may begin at
    odd elements: strides that are not known until the launch must be even. A tile of a 16-bit type is
    written by `stmatrix` if 16 bytes are contiguous in it. A tile is written by ordinary stores, which
    need the same barrier and `smem.fence` as those of `smem.copy`.
    """

    fragment: ext.Operand[FragmentType]
    target: ext.Operand[Any]

    effects = Effects(Scope.WARPGROUP, (write("target"),))

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use:
        """The constraint on the layout of the target tile."""
        return FragmentUse(
            f"the store at {format_location(self.location)}", access_of(self.fragment.type), path
        )

    @property
    def matrix_rows(self) -> int | None:
        """The rows of each matrix, if the number of matrices and their extents are dynamic.

        Raises:
            Invalid: if the attribute is not a positive integer.
        """
        return positive_attribute(self, MATRIX_ROWS)

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.fragment.type, self.target.type, self.matrix_rows)


@cached_in_context
def _check(source: Type, target: Type, matrix_rows: int | None) -> None:
    check_matrix_rows(target, source, matrix_rows)
    if slice_dim(source) is not None:
        check_fragment(source)
        elements = STORED[fragment_accumulator(source).name]
        check_vector(target, source, "stores", "to", elements, matrix_rows)
        return
    check_readable(source)
    elements = STORED[fragment_accumulator(source).name]
    if not isinstance(target, TileType):
        check_matrix(target, source, "stores", "to", elements, matrix_rows)
        return
    if shape_of(target) != shape_in_memory(source):
        raise Invalid(
            f"stores {tensor_of(source)} to {tensor_of(target)}; take a stage or a subtile of that "
            "shape"
        )
    element = tensor_of(target).element_type
    fitting = tile_element_types(elements)
    if str(element) not in fitting:
        raise Invalid(
            f"stores {tensor_of(source).element_type} to a tile of {element}; expected "
            f"{', '.join(fitting)}"
        )
    layout = layout_of(target)
    if layout is not None:
        try:
            access_of(source)(layout)
        except LayoutError as error:
            raise Invalid(f"cannot store to a tile of layout {layout}: {error}") from None


@builder
def store(value: Fragment, target: TileOrMemref) -> None:
    """Build an `smem.store` of a readable accumulator to the memref or tile `target`, or of a slice to a
    memref.

    Args:
        value: a readable accumulator, or a slice.
        target: a memref, or a tile, of its shape; rows may be in two dimensions of a memref.

    Example:
        >>> smem.store(d, D)  # to global memory
        >>> smem.store(d, a)  # to a tile, rounded to its element type
    """
    create(StoreOp, [value, target])
