"""D of one mma as A of another: elements are converted, and exchanged within quads.

The four threads of a quad hold 8 columns of a row of D, two each (PTX ISA 9.7.15.5.1.1, figures of D). In
the figures of A, a thread holds 32 bits of a row, so only 16-bit types need no exchange.
"""

from typing import Any

from ....bindings.irtypes import Type, Value
from ....bindings.mlir import ir
from ....dialect.ops import ConvertOp
from ....dialect.ops.mma_rules import operand_element
from ....dialect.types import is_a_fragment, tensor_of
from ....ir import emit
from ....ir.i32 import I32
from ....layout.fragments import A_FRAGMENT_REGISTERS
from ....layout.instruction import instruction_k
from ..registers import fragment_of_words, registers_of, word_count, words_of
from ..target import FRAGMENTS, MmaTarget, TypedOp
from .exchanges import exchange_with_lane, value_of_lane
from .pairs import ElementPair, as_register

#: The two elements that a thread holds of 8 columns of a row: for each 8 columns, those of its row and of
#: the row 8 below.
_Pairs = list[list[ElementPair]]


@FRAGMENTS.of(ConvertOp)
def lower_convert(typed: TypedOp, target: MmaTarget) -> Value:
    """Return the A fragment of an `smem.convert`."""
    value, source, result = typed.op.source, typed.type_of("source"), typed.result
    thread = typed.thread()
    if is_a_fragment(source):
        words = words_of(value, word_count(source))
        return fragment_of_words([emit.to_tf32(_bitcast(word, ir.F32Type.get())) for word in words])
    element = operand_element(result)
    convert = {16: _convert_16_bits, 32: _convert_tf32, 8: _convert_8_bits, 1: _convert_b1}[
        element.bits
    ]
    stored_type = tensor_of(result).element_type
    quad = _QuadLane(thread)
    words = []
    for pairs in _rows(value, source):
        groups = instruction_k(element) // 8
        for first in range(0, len(pairs), groups):
            words += convert(pairs[first : first + groups], stored_type, quad)
    return fragment_of_words(words)


def _rows(value: Value, source: Type) -> list[_Pairs]:
    """Return the pairs of each block of 64 rows."""
    registers = registers_of(source)
    rows: dict[int, _Pairs] = {}
    for position, scalars in registers.scalars(value):
        row, _, columns = registers.blocks[position]
        for i in range(0, columns // 2, 4):
            pairs = [
                ElementPair.from_registers(registers.accumulator, scalars, i + j) for j in (0, 2)
            ]
            rows.setdefault(row, []).append(pairs)
    return list(rows.values())


class _QuadLane:
    """A thread in its quad: the four threads that hold the same rows."""

    def __init__(self, thread: Value) -> None:
        #: The number of the thread in the quad, 0 to 3.
        self.lane = I32(thread) % 4

    def take(self, value: Value, lane: I32) -> Value:
        """Return the i32 `value` of the thread with number `lane`."""
        return value_of_lane(value, lane.value)

    def choose(self, condition: Value, yes: Value, no: Value) -> Value:
        """Return `yes` in threads where a condition holds, `no` in others."""
        return emit.value("arith.select", (condition, yes, no), yes.type)

    def has_bit(self, bit: int) -> Value:
        """Return whether the number of the thread has that bit (i1)."""
        return emit.has_bit(self.lane.value, bit)


def _convert_16_bits(pairs: _Pairs, stored_type: Type, quad: _QuadLane) -> list[Value]:
    """16-bit types: a register holds a pair."""
    return [
        as_register(pair.to_memory(stored_type))
        for pairs_of_rows in pairs
        for pair in pairs_of_rows
    ]


def _convert_tf32(pairs: _Pairs, stored_type: Type, quad: _QuadLane) -> list[Value]:
    """tf32: thread q of the quad holds columns q and q + 4 of a row."""
    odd = quad.has_bit(1)
    words = []
    for column in (0, 4):
        holder = quad.lane // 2 + column // 2
        for pair in pairs[0]:
            first, second = (quad.take(emit.to_tf32(element), holder) for element in pair.elements)
            words.append(quad.choose(odd, second, first))
    return words


def _convert_8_bits(pairs: _Pairs, stored_type: Type, quad: _QuadLane) -> list[Value]:
    """8-bit types: thread q of the quad holds columns 4q to 4q + 3 of 16."""
    selector = quad.choose(
        quad.has_bit(2), emit.constant(0x7632, emit.i32()), emit.constant(0x5410, emit.i32())
    )
    holder = quad.lane % 2 * 2
    words = []
    for near, far in zip(pairs[::2], pairs[1::2], strict=True):
        for lower, upper in zip(near, far, strict=True):
            low, high = (
                emit.value("arith.extui", (pair.to_memory(stored_type),), emit.i32())
                for pair in (lower, upper)
            )
            word = emit.value("arith.ori", (low, emit.binary("shli", high, 16)), emit.i32())
            first, second = (quad.take(word, holder + i) for i in (0, 1))
            words.append(emit.prmt(first, second, selector))
    return words


def _convert_b1(pairs: _Pairs, stored_type: Type, quad: _QuadLane) -> list[Value]:
    """b1: thread q of the quad holds bits 32q to 32q + 31 of 128."""
    shift = quad.lane * 2
    upper, odd = quad.has_bit(2), quad.has_bit(1)
    words: list[Any] = [None] * A_FRAGMENT_REGISTERS
    for half in (0, 1):
        gathered = [
            _gather_bits([rows[half] for rows in pairs[i : i + 4]], shift)
            for i in range(0, len(pairs), 4)
        ]
        for group in (0, 1):
            four = gathered[4 * group : 4 * group + 4]
            two = [_merge_with_lane(quad, upper, 2, four[i], four[i + 2]) for i in (0, 1)]
            words[half + 2 * group] = _merge_with_lane(quad, odd, 1, *two)
    return words


def _gather_bits(pairs: list[ElementPair], shift: I32) -> Value:
    """Return a word with the bits that a thread has of 32 columns; the bits of other threads are 0."""
    word: Any = None
    for i, pair in enumerate(pairs):
        for j, element in enumerate(pair.elements):
            bit = emit.binary("shli", emit.binary("andi", element, 1), 8 * i + j)
            word = bit if word is None else emit.value("arith.ori", (word, bit), emit.i32())
    return emit.binary("shli", word, shift.value)


def _merge_with_lane(
    quad: _QuadLane, condition: Value, distance: int, near: Value, far: Value
) -> Value:
    """Keep one of two words, chosen by a condition, and OR the bits of it that another lane has.

    The other lane keeps the other word, because its condition is the opposite.
    """
    kept_word = quad.choose(condition, far, near)
    sent_word = quad.choose(condition, near, far)
    return emit.value("arith.ori", (kept_word, exchange_with_lane(sent_word, distance)), emit.i32())


def _bitcast(value: Value, type_: Type) -> Value:
    return emit.value("llvm.bitcast", (value,), type_)
