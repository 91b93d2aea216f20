"""Arrays in global memory, the parameters of a kernel, and windows into them."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import ir, memref
from ...dialect.memrefs import is_dynamic, strides_of
from ..dtypes import DType, of_mlir
from ..errors import TraceError
from ..trace import Scope, current, traced
from .array_element import array_element
from .base import Traced
from .fragment import Fragment
from .index import Index, index_value
from .scalar import Scalar, as_scalar
from .slices import Range, ranges


class Extent(Index):
    """An extent of an array that the call gives, with its name in the signature."""

    __slots__ = ("name",)

    def __init__(self, value: Any, scope: Scope, name: str) -> None:
        super().__init__(value, scope, None, unsigned=True, covering=(name, 1))
        self.name = name


class Array(Traced):
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

    @traced
    def _extent(self, dim: int) -> Index | int:
        name = self.names[dim]
        if isinstance(name, int):
            return name
        trace = current()
        extents = trace.extents
        if name not in extents:
            with trace.hoisted():
                made = memref.dim(self.value, trace.index(dim))
            trace.pure.append(made.owner)
            extents[name] = Extent(made, trace.scopes[0], name)
        return extents[name]

    @traced
    def __getitem__(self, at: Any) -> Any:
        given = at if isinstance(at, tuple) else (at,)
        if len(given) == len(self.names) and any(isinstance(each, Fragment) for each in given):
            return array_element(self, self.dtype, given)
        taken = ranges(self.type_text, self.names, at)
        if all(each.dropped for each in taken):
            return Scalar(memref.load(self.value, [index_value(each.start) for each in taken]))
        return Window(self, taken)

    @traced
    def __setitem__(self, at: Any, given: Any) -> None:
        taken = ranges(self.type_text, self.names, at)
        if not all(each.dropped for each in taken):
            raise TraceError(
                f"a window of {self.name} is assigned; write sl.store(value, {self.name}[...])"
            )
        memref.store(
            as_scalar(given, self.dtype).value, self.value, [index_value(r.start) for r in taken]
        )


class Window:
    """A rectangle of an array: where it begins, and its extents.

    Attributes:
        array: the array.
        ranges: the part of each of its dimensions.
    """

    __slots__ = ("array", "ranges")

    def __init__(self, array: Array, taken: list[Range]) -> None:
        self.array = array
        self.ranges = taken

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, without dropped dimensions."""
        return tuple(each.size for each in self.ranges if not each.dropped)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.array.dtype

    @property
    def starts(self) -> list[Index | int]:
        """Where it begins, for each dimension of the array."""
        return [each.start for each in self.ranges]

    @property
    def type_text(self) -> str:
        """The type for messages."""
        return f"a window {'x'.join(map(str, self.shape))} of {self.array.type_text}"

    @property
    def value(self) -> Any:
        """The MLIR value: a new memref.subview."""
        return self._subview({})

    def value_of_rows(self, rows: Index, dim: int = 0) -> Any:
        """Return the MLIR value of the first rows: a new memref.subview of a dynamic number of them.

        Args:
            rows: their number, not more than the window has.
            dim: which of the dimensions of `shape` they are.
        """
        kept = [dim for dim, each in enumerate(self.ranges) if not each.dropped]
        return self._subview({kept[dim]: rows.value})

    def _subview(self, dynamic: dict[int, Any]) -> Any:
        """Return a new memref.subview, with dynamic extents by dimension."""
        source = self.array.value
        strides, offset = strides_of(source.type)
        result = _subview_type(source.type, strides, offset, self.ranges, dynamic)
        starts = [r.start.value if isinstance(r.start, Index) else r.start for r in self.ranges]
        sizes = [dynamic.get(dim, each.size) for dim, each in enumerate(self.ranges)]
        made = memref.subview(source, starts, sizes, [1] * len(sizes), result_type=result)
        current().pure.append(made.owner)
        return made


def _subview_type(
    type_: Any, strides: Any, offset: int, taken: list[Range], dynamic: dict[int, Any]
) -> Any:
    """Return the type of a subview, with the offset and the strides that MLIR infers."""
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    total: int | None = None if is_dynamic(offset) else offset
    for each, stride in zip(taken, strides, strict=True):
        if isinstance(each.start, int) and each.start == 0:
            continue
        static = isinstance(each.start, int) and not is_dynamic(stride)
        total = total + each.start * stride if static and total is not None else None  # pyright: ignore
    kept = [d for d, each in enumerate(taken) if not each.dropped]
    layout = ir.StridedLayoutAttr.get(
        unknown if total is None else total, [strides[d] for d in kept]
    )
    any_size = ir.ShapedType.get_dynamic_size()
    sizes = [any_size if d in dynamic else taken[d].size for d in kept]
    return ir.MemRefType.get(sizes, type_.element_type, layout, type_.memory_space)
