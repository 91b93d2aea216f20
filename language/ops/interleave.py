"""`sl.interleave`: columns of two fragments in turn."""

from __future__ import annotations

from typing import Any

from ...bindings.mlir import arith, gpu, ir
from ...dialect import ops as smem
from ...dialect.types import fragment
from ...ir import emit
from ...layout.transfer import WARP
from ..dtypes import DType, i8, i16, i32
from ..errors import TraceError
from ..trace import op_builder
from ..values.fragment import Fragment, readable

#: The integers that are exchanged, by the bits of an element.
_INTEGERS = {8: i8, 16: i16, 32: i32}


@op_builder
def interleave(a: Fragment, b: Fragment) -> Fragment:
    """Return the columns of two fragments (M, N) in turn, (M, 2 * N): column 2 * n is column n of `a`.

    The four threads that hold a row exchange elements by shuffles: two for each 8 columns of 8 rows of a
    type of 8 bits, four of 16, eight of 32. The name is Triton's.

    Args:
        a, b: accumulators of one shape and element type of 8, 16 or 32 bits, or expressions.

    Raises:
        TraceError: for other operands.

    Example:
        >>> print(sl.interleave(acc, acc).type_text)
        a fragment 64x128 of f32
    """
    first, second = readable(a), readable(b)
    if (first.shape, first.dtype) != (second.shape, second.dtype) or not _fits(first, second):
        raise TraceError(
            f"{first.type_text} is interleaved with {second.type_text}; expected two accumulators of one "
            "shape and type of 8, 16 or 32 bits"
        )
    integer = _INTEGERS[first.dtype.bits]
    assert first.shape is not None
    rows, columns = first.shape
    elements = [_elements(operand, integer) for operand in (first, second)]
    exchange = _Exchange(integer)
    # A thread has 4 elements of 8 columns of 64 rows: two adjacent ones of a row, and of the row 8 below.
    members: list[Any] = []
    for i in range(0, len(elements[0]), 4):
        halves = [
            exchange.columns(*(operand[j : j + 2] for operand in elements)) for j in (i, i + 2)
        ]
        for group in (0, 1):
            members += [element for half in halves for element in half[group]]
    type_ = ir.VectorType.get([len(members)], integer.type)
    registers = smem.from_registers(
        emit.value("vector.from_elements", members, type_),
        fragment((rows, 2 * columns), integer.type),
    )
    return Fragment(registers).bitcast(first.dtype)


def _fits(*operands: Fragment) -> bool:
    return all(
        operand.axis is None and operand.shape and not operand.is_a and operand.dtype.bits >= 8
        for operand in operands
    )


def _elements(operand: Fragment, integer: DType) -> list[Any]:
    """Return a thread's elements as integers."""
    registers = smem.to_registers(operand.bitcast(integer).value)
    count = registers.type.shape[0]
    return [emit.extract_element(registers, i) for i in range(count)]


class _Exchange:
    """The exchange of the four threads that hold a row.

    Thread q has columns 2 * q and 2 * q + 1 of 8, a pair. Of the 16 columns that these become, it takes
    two of the first 8 and two of the others: those of an element of threads q // 2 and 2 + q // 2, of the
    left element if q is even.
    """

    def __init__(self, integer: DType) -> None:
        self._integer = integer
        lane = arith.index_cast(i32.type, gpu.lane_id())
        self._odd = arith.trunci(ir.IntegerType.get_signless(1), lane)
        half = emit.binary("shrui", emit.binary("andi", lane, 3), 1)
        first = emit.binary("ori", emit.binary("andi", lane, WARP - 4), half)
        self._lanes = [first, emit.binary("ori", first, 2)]

    def columns(self, left: list[Any], right: list[Any]) -> list[list[Any]]:
        """Return a thread's two elements in each 8 columns, of its two elements of both operands."""
        bits = self._integer.bits
        if bits == 32:
            words = [left[0], right[0], left[1], right[1]]
        else:
            words = [_join(pair, bits) for pair in zip(left, right, strict=True)]
            words = [_join(words, 16)] if bits == 8 else words
        return [self._take(words, lane) for lane in self._lanes]

    def _take(self, words: list[Any], lane: Any) -> list[Any]:
        width = emit.constant(WARP, i32.type)
        words = [gpu.shuffle(word, lane, width, "idx")[0] for word in words]
        bits = self._integer.bits
        if bits == 8:
            words.append(emit.binary("shrui", words[0], 16))
        half = len(words) // 2
        words = [arith.select(self._odd, words[half + i], words[i]) for i in range(half)]
        if bits == 32:
            return words
        high = emit.binary("shrui", words[0], bits)
        return [arith.trunci(self._integer.type, word) for word in (words[0], high)]


def _join(pair: Any, bits: int) -> Any:
    """Return an i32 with the first of two integers in its lowest bits."""
    low, high = (part if part.type == i32.type else arith.extui(i32.type, part) for part in pair)
    return arith.ori(low, emit.binary("shli", high, bits))
