"""`smem.load`: a tile or a matrix in global memory to the registers of a warpgroup."""

from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import Any

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext, ir
from ...layout import LayoutError, TileLayout
from ...layout.fragment_access import (
    FragmentAccess,
    a_fragment_access,
    accumulator_access,
    byte_access,
    element_access,
    has_contiguous_runs,
)
from ...layout.fragments import WARPGROUP
from ...layout.nibbles import INTERLEAVED
from ...layout.uses import FragmentUse, Use
from ...layout.wgmma import INSTRUCTION_M, metadata_words
from ..arguments import Index, ResultType, TileOrMemref
from ..build import as_index, create
from ..builder import builder
from ..caching import cached_in_context
from ..divisibility import constant_of
from ..effects import Effects, Scope, read
from ..elements import element_of, tile_element_types
from ..memrefs import check_global, strides_of
from ..op import SmemOp
from ..optional_attributes import has_unit_attribute, positive_attribute
from ..slices import check_slice_type, slice_dim
from ..types import (
    FragmentType,
    TileType,
    check_fragment,
    fragment_accumulator,
    is_a_fragment,
    is_in_flight,
    is_metadata,
    layout_of,
    shape_of,
    tensor_of,
)
from ..uses import Chooser, Path
from ..verifier import verifier

#: Attribute: the rows of each of several matrices whose extents are dynamic.
MATRIX_ROWS = "matrix_rows"

#: Element types in memory that can be loaded into an accumulator, by accumulator type. Those of 4 bits
#: are two to a byte.
LOADED = {
    "f32": ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"),
    "f16": ("f16", "f8E4M3FN", "f8E5M2"),
    "bf16": ("bf16",),
    "e4m3": ("f8E4M3FN",),
    "e5m2": ("f8E5M2",),
    "s32": ("i32",),
    "s16": ("i16",),
    "s8": ("i8", "si8"),
    "u8": ("ui8",),
    "s4": ("i8", "si8", "ui8"),
    "u4": ("i8", "si8", "ui8"),
}


class LoadOp(SmemOp, name="load"):
    """Loads `source` into the registers of a warpgroup. The state of the type of `fragment` determines
    which fragment is loaded.

    - `#smem.a_fragment`, from a tile of A's shape and element type: by `ldmatrix` if 16 bytes along K
      (along M, for 16-bit types) are contiguous, else element by element.
    - `#smem.accumulator`, from a tile or a matrix in global memory: a residual, weights, or the
      accumulator of an earlier mma. f16, bf16 and floats of 8 bits are converted to f32 or f16. Elements
      of 4 bits are loaded from half as many columns of 8 bits: column 2 * c from the lower four bits of
      column c.
    - `#smem.slice`, from a vector in global memory (a memref of rank 1): a bias, a scale. Each thread
      loads the elements that it holds; f16 and bf16 are converted to f32.
    - `#smem.metadata`, from global memory: i32[M / 64, words, 128], the words of each thread as
      `layout.compress` returns them.

    A matrix or vector of dynamic extents may have more or fewer elements than the fragment, which is 0
    where there are none. Rows may be in two dimensions, as for `smem.store`.

    A tile is read by ordinary loads: a barrier is needed between earlier writes and the load, and between
    the load and later writes.

    With the unit attribute `interleaved`, columns of 4-bit elements are in the order of
    `layout.pack_nibbles(interleaved=True)`: a thread then loads its elements by `ldmatrix`, or 4 bytes at
    a time, and not each byte.

    With `rank`, the tile is that of another CTA of the cluster, whose rank it is (distributed shared
    memory): the tile at the same place in its shared memory. Then these barriers are of the cluster,
    `nvvm.cluster.arrive` and `nvvm.cluster.wait`. Only accumulators are loaded from other CTAs.
    """

    source: ext.Operand[Any]
    fragment: ext.Result[FragmentType]
    rank: ext.Operand[ir.IndexType] | None = None

    effects = Effects(Scope.WARPGROUP, (read("source"),))

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use:
        """The constraint on the layout of the source tile."""
        return FragmentUse(f"the load at {format_location(self.location)}", self.access, path)

    @property
    def access(self) -> Callable[[TileLayout], FragmentAccess]:
        """The function that plans the accesses of the threads for a layout."""
        if self.is_interleaved:
            return a_fragment_access
        return access_of(self.fragment.type, self.rank is not None)

    @property
    def is_interleaved(self) -> bool:
        """Whether columns of 4-bit elements are interleaved in memory.

        Raises:
            Invalid: if the attribute has a value.
        """
        return has_unit_attribute(self, "interleaved")

    @property
    def matrix_rows(self) -> int | None:
        """The rows of each matrix, if the number of matrices and their extents are dynamic; see
        `smem.store`.

        Raises:
            Invalid: if the attribute is not a positive integer.
        """
        return positive_attribute(self, MATRIX_ROWS)

    @verifier
    def verify_region_invariants(self) -> None:
        _check(self.source.type, self.fragment.type, self.matrix_rows)
        if self.is_interleaved:
            _check_interleaved(self.source.type, self.fragment.type, self.rank is not None)
        if self.rank is not None:
            _check_remote(self.source.type, self.fragment.type, constant_of(self.rank))


def access_of(fragment: Type, remote: bool = False) -> Callable[[TileLayout], FragmentAccess]:
    """Return the function that plans the accesses of the threads to a tile, for its layout.

    Args:
        fragment: the type of the fragment.
        remote: whether the tile is that of another CTA.
    """
    if is_a_fragment(fragment):
        return a_fragment_access
    if fragment_accumulator(fragment).bits == 4:
        return byte_access
    return element_access if remote else accumulator_access


@cached_in_context
def _check(source: Type, result: Type, matrix_rows: int | None) -> None:
    check_fragment(result)
    check_matrix_rows(source, result, matrix_rows)
    if is_in_flight(result):
        raise Invalid(f"results in {result}; expected #smem.accumulator")
    if is_metadata(result):
        _check_metadata(source, result)
    elif slice_dim(result) is not None:
        elements = LOADED[fragment_accumulator(result).name]
        check_vector(source, result, "loads", "from", elements, matrix_rows)
    elif isinstance(source, TileType):
        _check_tile(source, result)
    elif is_a_fragment(result):
        raise Invalid(f"loads an A fragment from a tile, not from {source}; copy it to a tile")
    else:
        elements = LOADED[fragment_accumulator(result).name]
        check_matrix(source, result, "loads", "from", elements, matrix_rows)


def _check_interleaved(source: Type, result: Type, remote: bool) -> None:
    """Check a load of elements of 4 bits whose columns are interleaved."""
    shape = shape_of(result)
    packed = isinstance(source, TileType) and shape_in_memory(result) != shape
    if not packed or remote or shape[1] % INTERLEAVED:
        text = "the tile of another CTA" if remote else f"{source}"
        raise Invalid(
            f"has interleaved, but loads {tensor_of(result)} from {text}; expected elements of 4 bits "
            f"of a tile of the CTA, with columns in multiples of {INTERLEAVED}"
        )
    layout = layout_of(source)
    if layout is not None and not has_contiguous_runs(layout, 1, 4):
        raise Invalid(
            f"cannot load from a tile of layout {layout}: 4 bytes of a row are not contiguous in it"
        )


def _check_remote(source: Type, result: Type, rank: int | None) -> None:
    """Check a load from another CTA of the cluster."""
    if not isinstance(source, TileType):
        raise Invalid(f"has a rank, but loads from {source}; expected a tile of another CTA")
    if is_a_fragment(result):
        raise Invalid(f"has a rank, but loads {result}; expected #smem.accumulator")
    if rank is not None and rank < 0:
        raise Invalid(f"has rank = {rank}; expected the rank of a CTA in its cluster, 0 or more")


def _check_metadata(source: Type, result: Type) -> None:
    m, k = shape_of(result)
    words = metadata_words(element_of(tensor_of(result).element_type), k)
    expected = [m // INSTRUCTION_M, words, WARPGROUP]
    if isinstance(source, ir.MemRefType):
        check_global(source, "loads metadata from")
        strides_of(source)
        if list(source.shape) == expected and str(source.element_type) == "i32":
            return
    raise Invalid(
        f"loads metadata of {tensor_of(result)} from {source}; expected a memref of "
        f"{'x'.join(map(str, expected))}xi32"
    )


def _check_tile(tile: Type, result: Type) -> None:
    if shape_of(tile) != shape_in_memory(result):
        raise Invalid(
            f"loads {tensor_of(result)} from {tensor_of(tile)}; take a stage or a subtile of that shape"
        )
    source_element, element = tensor_of(tile).element_type, tensor_of(result).element_type
    if is_a_fragment(result):
        if source_element != element:
            raise Invalid(
                f"loads an A fragment of {element} from a tile of {source_element}; expected {element}"
            )
    elif str(source_element) not in (
        fitting := tile_element_types(LOADED[fragment_accumulator(result).name])
    ):
        raise Invalid(
            f"loads {element} from a tile of {source_element}; expected {', '.join(fitting)}"
        )
    layout = layout_of(tile)
    if layout is not None:
        try:
            access_of(result)(layout)
        except LayoutError as error:
            raise Invalid(f"cannot load from a tile of layout {layout}: {error}") from None


def check_matrix_rows(memory: Type, fragment: Type, matrix_rows: int | None) -> None:
    """Check that the rows of each matrix are stated only where they do not follow from the type.

    Raises:
        Invalid: if they are stated for other memory than several matrices of dynamic extents.
    """
    if matrix_rows is None:
        return
    if isinstance(memory, ir.MemRefType) and not is_metadata(fragment):
        rows = memory.shape if slice_dim(fragment) is not None else memory.shape[:-1]
        if [*rows] == [ir.ShapedType.get_dynamic_size()] * 2:
            return
    raise Invalid(
        f"has {MATRIX_ROWS} = {matrix_rows}, but accesses {memory}; expected a memref with rows in two "
        "dimensions of dynamic extents"
    )


def shape_in_memory(fragment: Type) -> tuple[int, ...]:
    """Return the shape of the tile or matrix of a fragment: elements of 4 bits are two to a byte."""
    rows, columns = shape_of(fragment)
    packed = not is_a_fragment(fragment) and fragment_accumulator(fragment).bits == 4
    return (rows, columns // 2 if packed else columns)


def check_matrix(
    memref: Type,
    fragment: Type,
    verb: str,
    preposition: str,
    elements: Collection[str],
    matrix_rows: int | None,
) -> None:
    """Check that a matrix in global memory has the shape of a fragment and a fitting element type.

    Extents may be dynamic, and its rows in two dimensions.

    Args:
        memref: the matrix type.
        fragment: the fragment type.
        verb, preposition: words of the message: "loads", "from".
        elements: names of the element types that the matrix can have.
        matrix_rows: rows of each matrix, if both dimensions of the rows are dynamic; else None.

    Raises:
        Invalid: if it has not.
    """
    if not isinstance(memref, ir.MemRefType):
        raise Invalid(f"{verb} {preposition} a tile or a memref, not {memref}")
    check_global(memref, f"{verb} {preposition}")
    strides_of(memref)
    rows, columns = shape_in_memory(fragment)
    *outer, last = memref.shape
    any_extent = ir.ShapedType.get_dynamic_size()
    if last not in (columns, any_extent) or not _has_count(outer, rows, matrix_rows):
        shape = f"{rows}x{columns}"
        raise Invalid(
            f"{verb} a fragment of {shape} {preposition} {memref}; take a memref.subview of static "
            f"shape {shape}, of ?x{columns} or ?x? for the elements that there are, or of "
            f"GxRx{columns} with G * R = {rows}"
        )
    check_memory_element(memref, fragment, verb, preposition, elements)


def _has_count(extents: Sequence[int], count: int, matrix_rows: int | None) -> bool:
    """Whether one or two dimensions of a memref have `count` rows or elements, or are dynamic.

    Args:
        extents: of the dimensions.
        count: the number of rows or elements.
        matrix_rows: those along the second dimension, if both are dynamic; else None.
    """
    if not extents:
        return False
    any_extent = ir.ShapedType.get_dynamic_size()
    if len(extents) == 1:
        return extents[0] in (any_extent, count)
    static = [extent for extent in extents if extent != any_extent]
    if not static and len(extents) == 2 and matrix_rows is not None:
        return count % matrix_rows == 0
    if len(extents) > 2 or not static or min(static) < 1:
        return False
    return prod(static) == count if len(static) == 2 else count % static[0] == 0


def check_vector(
    memref: Type,
    slice_: Type,
    verb: str,
    preposition: str,
    elements: Collection[str],
    matrix_rows: int | None,
) -> None:
    """Check that a vector in global memory has the extent of a slice and a fitting element type.

    Args:
        memref: the type of the vector.
        slice_: the type of the slice.
        verb, preposition: words of the message: "loads", "from".
        elements: names of the element types that the vector can have.
        matrix_rows: as of `check_matrix`.

    Raises:
        Invalid: if it has not.
    """
    check_slice_type(slice_)
    extent = shape_of(slice_)[0]
    expected = f"memref<{extent}x{tensor_of(slice_).element_type}>"
    if not isinstance(memref, ir.MemRefType):
        raise Invalid(f"{verb} a slice {preposition} {memref}; expected a vector, as {expected}")
    check_global(memref, f"{verb} {preposition}")
    strides_of(memref)
    if not _has_count(memref.shape, extent, matrix_rows):
        raise Invalid(
            f"{verb} a slice of {extent} {preposition} {memref}; take a memref.subview of rank 1, as "
            f"{expected}, of a dynamic extent, or of GxR with G * R = {extent}"
        )
    check_memory_element(memref, slice_, verb, preposition, elements)


def check_memory_element(
    memref: Type, fragment: Type, verb: str, preposition: str, elements: Collection[str]
) -> None:
    """Check that the element type in memory is one of `elements`.

    Raises:
        Invalid: if it is not.
    """
    if str(memref.element_type) not in elements:
        element = tensor_of(fragment).element_type
        raise Invalid(
            f"{verb} {element} {'as' if verb == 'stores' else preposition} {memref.element_type}; "
            f"expected {', '.join(elements)}"
        )


@builder
def load(
    source: TileOrMemref,
    result: ResultType,
    rank: Index | None = None,
    interleaved: bool = False,
) -> Value:
    """Build an `smem.load` of the tile or memref `source`, and return the fragment, of type `result`.

    Args:
        source: the tile, or a memref in global memory.
        result: the type of the fragment.
        rank: the CTA of the cluster whose tile is loaded; None for the CTA's own.
        interleaved: whether columns of 4-bit elements are interleaved in memory.

    Example:
        >>> fragment = smem.load(a, types.a_fragment((64, 64), bf16))
        >>> print(fragment.type)
        !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
    """
    operands = [source] if rank is None else [source, as_index(rank)]
    return create(LoadOp, operands, [result], interleaved=interleaved).result
