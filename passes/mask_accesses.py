"""`smem-mask-accesses`: mask the accesses of arrays that may be outside of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..bindings.diagnostics import remark
from ..bindings.irtypes import Module, Op, Type, Value
from ..bindings.mlir import ir
from ..dialect.elements import computed_type
from ..dialect.ops import CopyAsyncOp, CopyOp, LoadOp, StoreOp
from ..dialect.ops.load import MATRIX_ROWS
from ..dialect.slices import slice_dim
from ..dialect.types import is_metadata, shape_of
from ..ir import emit
from ..ir.errors import OpError
from ..ir.kernel import function_of, functions_of
from ..ir.parameters import extent_name, parameter_name
from ..ir.walk import walk
from ..ir.windows import ArrayWindow, window_of
from .check_async.integer_ranges import IntegerRanges
from .check_async.polynomials import Polynomial, number
from .driver.base import Pass, option

#: The ops that access single elements: the position of the memref among the operands.
_OF_ELEMENTS = {"memref.load": 0, "memref.store": 1}

#: The ops that access windows, with the operand.
_OF_WINDOWS = {LoadOp: "source", StoreOp: "target", CopyOp: "source", CopyAsyncOp: "source"}


@dataclass(frozen=True)
class MaskAccesses(Pass):
    """Masks the accesses of a kernel's arrays that are not proven to be within them.

    What is outside of an array is read as 0, and is not written. A window of an argument
    (`memref.subview`) that is loaded, stored or copied gets the extents that the array has from its start
    on; none, if it begins before the array. A `memref.load` or `memref.store` of an argument becomes
    conditional.

    What is proven follows from static extents, `smem.multiples`, `smem.grid`, loops, conditions around
    the access, and assumptions (`llvm.intr.assume`). Accesses by tensor maps need no mask.
    """

    name = "smem-mask-accesses"
    description = "mask accesses of arrays that may be outside of them"

    explain: bool = option(False, "print a remark for each access that is masked")

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            # Masks change the ops that the integers are computed from.
            for mask in list(_masks(function)):
                if self.explain:
                    remark(mask.op.location, mask.reason)
                with ir.InsertionPoint(mask.op), mask.op.location:
                    mask.apply()


@dataclass(frozen=True)
class _Mask:
    """An access that is not proven to be within its array.

    Attributes:
        op: the access.
        array: the argument.
        starts: the first element, for each dimension of the array.
        sizes: the number of elements.
        unproven: the dimensions in which the elements may be outside.
        negative: those in which they may begin before the array.
        window: the window; None for a single element.
    """

    op: Op
    array: Value
    starts: tuple[Value | int, ...]
    sizes: tuple[Value | int, ...]
    unproven: tuple[int, ...]
    negative: tuple[int, ...]
    window: ArrayWindow | None = None

    @property
    def reason(self) -> str:
        """The remark."""
        function, argument = function_of(self.op), self.array.arg_number
        extents = " and ".join(extent_name(function, argument, dim) for dim in self.unproven)
        name = parameter_name(function, argument)
        return f"is masked: it is not known that the elements of {name} are within {extents}"

    @property
    def refusal(self) -> str:
        """The message if no mask is possible."""
        name = parameter_name(function_of(self.op), self.array.arg_number)
        return (
            f"may access elements outside of {name}, and has no mask; state what its extents are "
            "multiples of, or assume that the elements are within it"
        )

    def apply(self) -> None:
        """Emit the mask."""
        if self.window is None:
            _mask_element(self)
        else:
            _mask_window(self, self.window)

    def extent(self, dim: int) -> Value:
        """Emit an extent of the array (index)."""
        index = ir.IndexType.get()
        if not self.array.type.is_dynamic_dim(dim):
            return emit.constant(self.array.type.shape[dim], index)
        return emit.value("memref.dim", (self.array, emit.constant(dim, index)), index)

    def contains_start(self, dim: int) -> Value:
        """Emit whether the first element is within the array along a dimension (i1)."""
        # Compared as unsigned, a negative start is a large one.
        return emit.compare("ult", _index(self.starts[dim]), self.extent(dim))


def _masks(function: Op) -> Iterator[_Mask]:
    """Yield the accesses that need a mask."""
    numbers: IntegerRanges | None = None
    for op, array, starts, sizes, window in _accesses(function):
        numbers = numbers or IntegerRanges(function)
        unproven, negative = [], []
        for dim, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            first, count = (_polynomial(numbers, x) for x in (start, size))
            is_negative = not numbers.is_natural_at(op, first)
            room = numbers.values.extent(array, dim) - first - count
            if is_negative:
                negative.append(dim)
            if is_negative or not numbers.is_natural_at(op, room):
                unproven.append(dim)
        if unproven:
            yield _Mask(op, array, starts, sizes, tuple(unproven), tuple(negative), window)


def _accesses(
    function: Op,
) -> Iterator[
    tuple[Op, Value, tuple[Value | int, ...], tuple[Value | int, ...], ArrayWindow | None]
]:
    """Yield the accesses of the function's arguments: the op, the argument, the first element, how many
    there are along each dimension, and the window."""
    arguments = set(function.regions[0].blocks[0].arguments)
    for op in walk(function, *_OF_ELEMENTS, *_OF_WINDOWS):
        if position := _OF_ELEMENTS.get(op.operation.name, -1) + 1:
            array, *starts = list(op.operands)[position - 1 :]
            if array in arguments:
                yield op, array, tuple(starts), (1,) * len(starts), None
        elif isinstance((memory := getattr(op, _OF_WINDOWS[type(op)])).type, ir.MemRefType):
            window = window_of(memory)
            if window is not None and window.array in arguments:
                yield op, window.array, window.starts, window.sizes, window


def _polynomial(numbers: IntegerRanges, given: Value | int) -> Polynomial:
    return number(given) if isinstance(given, int) else numbers.values.polynomial(given)


def _index(given: Value | int) -> Value:
    return emit.constant(given, ir.IndexType.get()) if isinstance(given, int) else given


# Single elements.


def _mask_element(mask: _Mask) -> None:
    """Make an access of an element conditional."""
    op = mask.op.operation
    inside = emit.conjunction([mask.contains_start(dim) for dim in mask.unproven])
    if op.name == "memref.store":
        with emit.scf_if(inside):
            op.clone()
    else:
        result = op.results[0]
        loaded = emit.scf_if_else(
            inside, result.type, lambda: op.clone().results[0], lambda: _zero(result.type)
        )
        result.replace_all_uses_with(loaded)
    op.erase()


def _zero(type_: Type) -> Value:
    """Emit a 0 of a type of memory."""
    signless = computed_type(type_)
    zero = (
        ir.FloatAttr.get(signless, 0.0)
        if isinstance(signless, ir.FloatType)
        else ir.IntegerAttr.get(signless, 0)
    )
    value = ir.Operation.create("arith.constant", [signless], attributes={"value": zero}).result
    if signless == type_:
        return value
    return ir.Operation.create("builtin.unrealized_conversion_cast", [type_], [value]).result


# Windows.


def _mask_window(mask: _Mask, window: ArrayWindow) -> None:
    """Give a window the extents that the array has."""
    counts = {dim: _count(mask, dim) for dim in mask.unproven if dim in window.kept}
    dropped = [mask.contains_start(dim) for dim in mask.unproven if dim not in window.kept]
    rows = _rows_dim(mask.op, window)
    if dropped:
        count, zero = counts.get(rows, _index(window.sizes[rows])), _index(0)
        inside = emit.conjunction(dropped)
        counts[rows] = emit.value("arith.select", (inside, count, zero), count.type)
    if _is_unmaskable(mask.op):
        raise OpError(mask.op, mask.refusal)
    dynamic = {d: size for d, size in enumerate(window.sizes) if not isinstance(size, int)} | counts
    matrices, *others = window.dims[: window.dims.index(rows) + 1]
    if others and not {matrices, rows} - dynamic.keys():
        # The type of the window no longer says how many rows of the fragment each matrix has.
        attribute = ir.IntegerAttr.get(emit.i64(), _matrix_rows(mask.op, window, matrices, rows))
        mask.op.attributes[MATRIX_ROWS] = attribute
    operand = getattr(mask.op, _OF_WINDOWS[type(mask.op)])
    position = list(mask.op.operands).index(operand)
    mask.op.operation.operands[position] = window.rebuild(counts)


def _matrix_rows(op: Op, window: ArrayWindow, matrices: int, rows: int) -> int:
    """Return how many rows of a fragment each of several matrices has."""
    if op.matrix_rows is not None:
        return op.matrix_rows
    size, count = window.sizes[rows], window.sizes[matrices]
    if isinstance(size, int):
        return size
    assert isinstance(count, int), "one of both extents is static"
    return shape_of(op.fragment.type)[0] // count


def _count(mask: _Mask, dim: int) -> Value:
    """Emit how many elements of a window the array has along a dimension."""
    start, size = _index(mask.starts[dim]), _index(mask.sizes[dim])
    room = emit.binary("subi", mask.extent(dim), start)
    zero = emit.constant(0, size.type)
    count = emit.binary("maxsi", emit.binary("minsi", room, size), zero)
    if dim not in mask.negative:
        return count
    return emit.value("arith.select", (mask.contains_start(dim), count, zero), size.type)


def _rows_dim(op: Op, window: ArrayWindow) -> int:
    """Return the dimension of the array that has the rows of a matrix, or the elements of a slice."""
    is_slice = not isinstance(op, CopyOp | CopyAsyncOp) and slice_dim(op.fragment.type) is not None
    return window.dims[-1 if is_slice else -2]


def _is_unmaskable(op: Op) -> bool:
    """Whether an op takes no window of dynamic extents: of metadata, or of blocks of scale factors."""
    if isinstance(op, CopyOp | CopyAsyncOp):
        return op.reads_scale_blocks
    return is_metadata(op.fragment.type)
