"""Windows of a kernel's arrays: subviews of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..bindings.irtypes import Op, Type, Value
from ..bindings.mlir import ir, memref
from ..dialect.divisibility import divisor
from ..dialect.memrefs import is_dynamic, strides_of
from . import emit
from .parameters import extent_multiple

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class ArrayWindow:
    """A `memref.subview` of an argument, or its transpose.

    Attributes:
        array: the argument.
        subview: the subview.
        transpose: the `memref.transpose` of it that is the window; None if the subview is.
        starts, sizes: the first element, and the number of elements, for each dimension of the array.
        kept: the dimensions of the array that the subview has.
    """

    array: Value
    subview: Op
    transpose: Op | None
    starts: tuple[Value | int, ...]
    sizes: tuple[Value | int, ...]
    kept: tuple[int, ...]

    @property
    def dims(self) -> list[int]:
        """The dimension of the array for each dimension of the window."""
        return [*self.kept] if self.transpose is None else [self.kept[d] for d in self._permutation]

    @property
    def _permutation(self) -> list[int]:
        assert self.transpose is not None
        exchange = ir.AffineMapAttr(self.transpose.attributes["permutation"]).value
        return [ir.AffineDimExpr(result).position for result in exchange.results]

    def rebuild(self, counts: Mapping[int, Value]) -> Value:
        """Emit the window with other sizes, by dimension of the array."""
        type_ = self.subview.results[0].type
        shape = [
            _DYNAMIC if dim in counts else extent
            for dim, extent in zip(self.kept, type_.shape, strict=True)
        ]
        sizes = [counts.get(dim, size) for dim, size in enumerate(self.sizes)]
        value = memref.subview(
            self.array,
            list(self.starts),
            sizes,
            [1] * len(sizes),
            result_type=_with_shape(type_, shape),
        )
        if self.transpose is None:
            return value
        shape = [shape[d] for d in self._permutation]
        return ir.Operation.create(
            "memref.transpose",
            [_with_shape(self.transpose.results[0].type, shape)],
            [value],
            {"permutation": self.transpose.attributes["permutation"]},
        ).result


def window_of(value: Value) -> ArrayWindow | None:
    """Return the window that a memref is; None if it is no subview, of unit strides, of an argument."""
    op = _owner_named(value, "memref.transpose")
    subview = _owner_named(value if op is None else op.operands[0], "memref.subview")
    if subview is None or not isinstance(subview.operands[0].owner, ir.Block):
        return None
    operands = iter(list(subview.operands)[1:])
    starts, sizes, strides = (
        tuple(
            next(operands) if number == _DYNAMIC else number for number in subview.attributes[name]
        )
        for name in ("static_offsets", "static_sizes", "static_strides")
    )
    if any(stride != 1 for stride in strides):
        return None
    kept, shape = [], [*subview.results[0].type.shape]
    for dim, size in enumerate(sizes):
        # An extent of 1 that the result lacks was dropped; which of several does not matter.
        extent = size if isinstance(size, int) else _DYNAMIC
        if len(kept) < len(shape) and extent == shape[len(kept)]:
            kept.append(dim)
    return ArrayWindow(subview.operands[0], subview, op, starts, sizes, tuple(kept))


def extent_value(memref: Value, dim: int) -> Value | None:
    """Emit a dynamic extent of a memref (i32, at most 2^31 - 1); return None for a static one."""
    if not memref.type.is_dynamic_dim(dim):
        return None
    index = ir.IndexType.get()
    extent = emit.value("memref.dim", (memref, emit.constant(dim, index)), index)
    limited = emit.value("arith.minsi", (extent, emit.constant(2**31 - 1, index)), index)
    return emit.value("arith.index_cast", (limited,), emit.i32())


def has_even_rows(memref: Value) -> bool:
    """Whether rows begin at multiples of two elements, of a matrix of contiguous columns.

    A launch checks dynamic strides, but not where the number of columns is dynamic: an array may have an
    odd one.
    """
    strides, offset = strides_of(memref.type)
    if any(not is_dynamic(x) and x % 2 for x in (*strides[:-1], offset)):
        return False
    array, column, start, window = memref, memref.type.rank - 1, 0, window_of(memref)
    if window is not None:
        array, column = window.array, window.dims[-1]
        start = window.starts[column]
    if (start if isinstance(start, int) else divisor(start)) % 2:
        return False
    if not memref.type.is_dynamic_dim(memref.type.rank - 1):
        return True
    if not isinstance(array.owner, ir.Block) or not _is_contiguous(array.type):
        return False
    if not array.type.is_dynamic_dim(column):
        return array.type.shape[column] % 2 == 0
    return extent_multiple(array.owner.owner.operation, array.arg_number, column) % 2 == 0


def _is_contiguous(type_: Type) -> bool:
    return ir.AffineMap.get_identity(type_.rank) == type_.affine_map


def _owner_named(value: Value, name: str) -> Op | None:
    owner = value.owner
    return None if isinstance(owner, ir.Block) or owner.name != name else owner.operation


def _with_shape(type_: Type, shape: list[int]) -> Type:
    return ir.MemRefType.get(shape, type_.element_type, type_.layout, type_.memory_space)
