"""Arrays in global memory, the parameters of a kernel, and windows into them."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import ir, memref
from ...dialect.memrefs import is_dynamic, strides_of
from ..dtypes import DType, of_mlir
from ..dtypes import index as index_type
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder
from . import elements
from .base import Traced, describe
from .fragment import Fragment, as_node
from .index import Index, index_value, is_index
from .node import ArrayElement, join_shapes
from .operators import Unloaded
from .scalar import as_scalar, read_scalar
from .slices import IndexRange, index_ranges
from .tile import PackedView


class NamedExtent(Index):
    """An extent of an array that the call gives, with its name in the signature."""

    __slots__ = ("name",)

    def __init__(self, value: Any, scope: KernelScope, name: str) -> None:
        super().__init__(value, scope, None, unsigned=True, covering=(name, 1))
        self.name = name


class Array(Unloaded, Traced):
    """An array in global memory: a parameter of the kernel.

    `A[row : row + 64, k : k + 64]` is a window of 64 x 64 elements; an index instead of a slice drops the
    dimension. `A[i, j]` with an index for each dimension is the element, read by each thread. With
    expressions of positions among them, such as `bias[column + sl.iota(1)]`, it is an expression whose
    elements are read where it is computed; all of them must be within the array.

    Attributes:
        name: the parameter's.
        names: the extents, as in the signature.
        dtype: the element type.
    """

    __slots__ = ("dtype", "name", "names")

    kind = "an array"
    instead_of_transpose = "take that of a window, such as A[0:64, 0:64].T"

    def __init__(self, value: Any, name: str, names: tuple[str | int, ...]) -> None:
        super().__init__(value)
        self.name = name
        self.names = names
        self.dtype: DType = of_mlir(value.type.element_type)

    @property
    def shape(self) -> tuple[Index | int, ...]:
        """The extents: numbers where they are fixed, else indices."""
        return tuple(self._extent(dim) for dim in range(len(self.names)))

    @property
    def type_text(self) -> str:
        extents = ", ".join(map(str, self.names))
        return f"the array {self.name} ({extents}) of {self.dtype}"

    @op_builder
    def _extent(self, dim: int) -> Index | int:
        name = self.names[dim]
        if isinstance(name, int):
            return name
        trace = current()
        extents = trace.extents
        if name not in extents:
            with trace.hoisting_point():
                extent = memref.dim(self.value, trace.index(dim))
            trace.pure.append(extent.owner)
            extents[name] = NamedExtent(extent, trace.scopes[0], name)
        return extents[name]

    @op_builder
    def __getitem__(self, indices: Any) -> Any:
        dims = indices if isinstance(indices, tuple) else (indices,)
        if len(dims) == len(self.names) and any(isinstance(index, Fragment) for index in dims):
            return _element_at(self, dims)
        ranges = index_ranges(self.type_text, self.names, indices)
        if all(dim_range.dropped for dim_range in ranges):
            return read_scalar(
                memref.load(self.value, [index_value(dim_range.start) for dim_range in ranges])
            )
        return Window(self, ranges)

    @op_builder
    def __setitem__(self, indices: Any, element: Any) -> None:
        ranges = index_ranges(self.type_text, self.names, indices)
        if not all(dim_range.dropped for dim_range in ranges):
            raise TraceError(
                f"a window of {self.name} is assigned; write sl.store(value, {self.name}[...])"
            )
        number = elements.with_sign(as_scalar(element, self.dtype).value, self.dtype)
        memref.store(number, self.value, [index_value(r.start) for r in ranges])


class Window(Unloaded):
    """A rectangle of an array: its start and its extents.

    Attributes:
        array: the array.
        ranges: the range of each dimension of the array.
        transposed: whether rows and columns are exchanged.

    Example:
        >>> print(A[0:64, 0:32].T.shape)
        (32, 64)
    """

    __slots__ = ("array", "ranges", "transposed")

    def __init__(self, array: Array, ranges: list[IndexRange], transposed: bool = False) -> None:
        self.array = array
        self.ranges = ranges
        self.transposed = transposed

    @property
    @op_builder
    def T(self) -> Window:  # noqa: N802
        """The same elements with rows and columns exchanged, as in NumPy.

        Raises:
            TraceError: if the window is no matrix.
        """
        if len(self.shape) != 2:
            raise TraceError(f"{self.type_text} is transposed; expected one of rows and columns")
        return Window(self.array, self.ranges, not self.transposed)

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, without dropped dimensions."""
        sizes = tuple(dim_range.size for dim_range in self.ranges if not dim_range.dropped)
        return sizes[::-1] if self.transposed else sizes

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.array.dtype

    def bitcast(self, dtype: DType) -> PackedView:
        """Return a window (M, N) of bytes as (M, 2 * N) of 4 bits, i4 or u4: see `Tile.bitcast`."""
        return PackedView(self, dtype)

    @property
    def starts(self) -> list[Index | int]:
        """The first element, for each dimension of the array."""
        return [dim_range.start for dim_range in self.ranges]

    @property
    def type_text(self) -> str:
        """The type for messages."""
        return f"a window {'x'.join(map(str, self.shape))} of {self.array.type_text}"

    def __repr__(self) -> str:
        return f"<{self.type_text}>"

    @property
    def value(self) -> Any:
        """The MLIR value: a new memref.subview."""
        return self._subview({})

    @property
    def _kept_dims(self) -> list[int]:
        """The dimension of the array for each dimension of `shape`."""
        dims = [dim for dim, dim_range in enumerate(self.ranges) if not dim_range.dropped]
        return dims[::-1] if self.transposed else dims

    def extents_in_array(self) -> dict[int, Index | int]:
        """Return how many elements the array has from the window's first one on, for each dimension of
        `shape` in which they may be fewer than the window's. They may be below 0."""
        parts = [
            (dim, self.ranges[d], self.array.shape[d]) for dim, d in enumerate(self._kept_dims)
        ]
        return {
            dim: extent - dim_range.start
            for dim, dim_range, extent in parts
            if not (isinstance(extent, int) and isinstance(dim_range.start, int))
        }

    def value_of(self, extents: dict[int, Index]) -> Any:
        """Return the MLIR value of the first elements: a new memref.subview of dynamic extents.

        Args:
            extents: the number of elements for some dimensions of `shape`, not more than the window has.
        """
        return self._subview({self._kept_dims[dim]: n.value for dim, n in extents.items()})

    def _subview(self, dynamic: dict[int, Any]) -> Any:
        """Return a new memref.subview, with dynamic extents by dimension."""
        source = self.array.value
        strides, offset = strides_of(source.type)
        result = _subview_type(source.type, strides, offset, self.ranges, dynamic)
        starts = [r.start.value if isinstance(r.start, Index) else r.start for r in self.ranges]
        sizes = [dynamic.get(dim, dim_range.size) for dim, dim_range in enumerate(self.ranges)]
        subview = memref.subview(source, starts, sizes, [1] * len(sizes), result_type=result)
        current().pure.append(subview.owner)
        return _transpose(subview) if self.transposed else subview


def _transpose(matrix: Any) -> Any:
    """Return a new memref.transpose of a matrix."""
    type_ = matrix.type
    strides, offset = type_.get_strides_and_offset()
    layout = ir.StridedLayoutAttr.get(offset, strides[::-1])
    transposed = ir.MemRefType.get(
        type_.shape[::-1], type_.element_type, layout, type_.memory_space
    )
    exchange = ir.AffineMap.get_permutation([1, 0])
    value = memref.transpose(transposed, matrix, exchange)
    current().pure.append(value.owner)
    return value


def _subview_type(
    type_: Any, strides: Any, offset: int, ranges: list[IndexRange], dynamic: dict[int, Any]
) -> Any:
    """Return the type of a subview, with the offset and the strides that MLIR infers."""
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    total: int | None = None if is_dynamic(offset) else offset
    for dim_range, stride in zip(ranges, strides, strict=True):
        if isinstance(dim_range.start, int) and dim_range.start == 0:
            continue
        static = isinstance(dim_range.start, int) and not is_dynamic(stride)
        total = total + dim_range.start * stride if static and total is not None else None  # pyright: ignore
    kept_dims = [d for d, dim_range in enumerate(ranges) if not dim_range.dropped]
    layout = ir.StridedLayoutAttr.get(
        unknown if total is None else total, [strides[d] for d in kept_dims]
    )
    any_size = ir.ShapedType.get_dynamic_size()
    sizes = [any_size if d in dynamic else ranges[d].size for d in kept_dims]
    return ir.MemRefType.get(sizes, type_.element_type, layout, type_.memory_space)


def _element_at(array: Array, positions: tuple[Any, ...]) -> Fragment:
    """Return the expression of an array's element at positions, such as `bias[column + sl.iota(1)]`.

    Args:
        array: the array.
        positions: for each dimension an expression of positions, an index, or an integer.

    Raises:
        TraceError: for another position.
    """
    for position in positions:
        is_expression = isinstance(position, Fragment) and position.dtype == index_type
        if not (is_index(position) or is_expression):
            raise TraceError(
                f"{array.type_text} is indexed by {describe(position)} and by positions; expected an "
                "index for each dimension"
            )
    nodes = tuple(as_node(position, index_type) for position in positions)
    return Fragment(
        node=ArrayElement(
            array.dtype, *join_shapes(nodes), "load", nodes, current().here(), array=array
        )
    )
