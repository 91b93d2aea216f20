"""The D of one mma as the A of another: elements are converted, and exchanged within quads.

The four threads of a quad hold 8 columns of a row of D, two each (PTX ISA 9.7.15.5.1.1, figures of D). In
A's figures a thread holds 32 bits in a row, so only 16-bit types stay where they are.
"""

from collections.abc import Callable
from typing import Any

from ....dialect.bindings import ir
from ....dialect.ops import ConvertOp
from ....dialect.ops.mma_rules import operand_element
from ....dialect.types import is_a_fragment, tensor_of
from ....ir import emit
from ....ir.i32 import I32
from ....layout.fragments import A_FRAGMENT_REGISTERS
from ....layout.instruction import instruction_k
from ..registers import of_words, registers_of, word_count, words_of
from ..target import MmaTarget
from ..typed import TypedOp
from .lowerings import FRAGMENTS
from .pairs import Pair, as_register

#: Both elements that a thread holds of 8 columns of a row, by 8 columns and by the row (0 or 8 further).
_Pairs = list[list[Pair]]


@FRAGMENTS.of(ConvertOp)
def lower_convert(typed: TypedOp, target: MmaTarget) -> Any:
    """The multiplicand that an `smem.convert` makes."""
    value, source, result = typed.op.source, typed.type_of("source"), typed.result
    thread = typed.thread()
    if is_a_fragment(source):
        words = words_of(value, word_count(source))
        return of_words([emit.to_tf32(_bitcast(word, ir.F32Type.get())) for word in words])
    element = operand_element(result)
    make = {16: _halves, 32: _words, 8: _bytes, 1: _bits}[element.bits]
    kept = tensor_of(result).element_type
    quad = _Quad(thread)
    words = []
    for pairs in _rows(value, source):
        groups = instruction_k(element) // 8
        for first in range(0, len(pairs), groups):
            words += make(pairs[first : first + groups], kept, quad)
    return of_words(words)


def _rows(value: Any, source: Any) -> list[_Pairs]:
    """The pairs of each 64 rows."""
    registers = registers_of(source)
    rows: dict[int, _Pairs] = {}
    for position, scalars in registers.scalars(value):
        row, _, columns = registers.blocks[position]
        for i in range(0, columns // 2, 4):
            pairs = [Pair.held(registers.accumulator, scalars, i + j) for j in (0, 2)]
            rows.setdefault(row, []).append(pairs)
    return list(rows.values())


class _Quad:
    """The four threads that share rows."""

    def __init__(self, thread: Any) -> None:
        #: The thread's place among them.
        self.place = I32(thread) % 4

    def take(self, value: Any, place: Any) -> Any:
        """The i32 `value` of the thread at a place."""
        return self._shuffle("idx", value, place.value)

    def swap(self, value: Any, distance: int) -> Any:
        """The i32 `value` of the thread whose place differs by that bit."""
        return self._shuffle("bfly", value, emit.constant(distance, emit.i32()))

    def choose(self, condition: Any, yes: Any, no: Any) -> Any:
        """`yes` where a condition holds, `no` elsewhere."""
        return emit.value("arith.select", (condition, yes, no), yes.type)

    def has(self, bit: int) -> Any:
        """Whether the thread's place has that bit (i1)."""
        return emit.has_bit(self.place.value, bit)

    def _shuffle(self, kind: str, value: Any, lane: Any) -> Any:
        everyone = emit.constant(-1, emit.i32())
        # PTX ISA, shfl.sync: segments of 4 lanes (mask 28 in bits 8-12), any lane of them (31).
        segment = emit.constant(28 << 8 | 31, emit.i32())
        return emit.value(
            "nvvm.shfl.sync",
            (everyone, value, lane, segment),
            value.type,
            kind=ir.Attribute.parse(f"#nvvm<shfl_kind {kind}>"),
        )


_Make = Callable[[_Pairs, Any, _Quad], list[Any]]


def _halves(pairs: _Pairs, kept: Any, quad: _Quad) -> list[Any]:
    """16-bit types: a register is a pair."""
    return [as_register(pair.stored(kept)) for both in pairs for pair in both]


def _words(pairs: _Pairs, kept: Any, quad: _Quad) -> list[Any]:
    """tf32: column q and q + 4 of a row belong to the thread at place q."""
    odd = quad.has(1)
    found = []
    for further in (0, 4):
        holder = quad.place // 2 + further // 2
        for pair in pairs[0]:
            first, second = (quad.take(emit.to_tf32(element), holder) for element in pair.elements)
            found.append(quad.choose(odd, second, first))
    return found


def _bytes(pairs: _Pairs, kept: Any, quad: _Quad) -> list[Any]:
    """8-bit types: columns 4q to 4q + 3 of 16 belong to the thread at place q."""
    selector = quad.choose(
        quad.has(2), emit.constant(0x7632, emit.i32()), emit.constant(0x5410, emit.i32())
    )
    holder = quad.place % 2 * 2
    found = []
    for near, far in zip(pairs[::2], pairs[1::2], strict=True):
        for lower, upper in zip(near, far, strict=True):
            low, high = (
                emit.value("arith.extui", (pair.stored(kept),), emit.i32())
                for pair in (lower, upper)
            )
            both = emit.value("arith.ori", (low, emit.binary("shli", high, 16)), emit.i32())
            taken = [quad.take(both, holder + i) for i in (0, 1)]
            found.append(emit.permuted(taken[0], taken[1], selector))
    return found


def _bits(pairs: _Pairs, kept: Any, quad: _Quad) -> list[Any]:
    """b1: bits 32q to 32q + 31 of 128 belong to the thread at place q."""
    shift = quad.place * 2
    upper, odd = quad.has(2), quad.has(1)
    found: list[Any] = [None] * A_FRAGMENT_REGISTERS
    for half in (0, 1):
        words = [
            _gathered([both[half] for both in pairs[i : i + 4]], shift)
            for i in range(0, len(pairs), 4)
        ]
        for group in (0, 1):
            mine = words[4 * group : 4 * group + 4]
            mine = [_merged(quad, upper, 2, mine[i], mine[i + 2]) for i in (0, 1)]
            found[half + 2 * group] = _merged(quad, odd, 1, *mine)
    return found


def _gathered(pairs: list[Pair], shift: I32) -> Any:
    """The bits that a thread has of 32 columns, in their places; those of others are 0."""
    word: Any = None
    for i, pair in enumerate(pairs):
        for j, element in enumerate(pair.elements):
            bit = emit.binary("shli", emit.binary("andi", element, 1), 8 * i + j)
            word = bit if word is None else emit.value("arith.ori", (word, bit), emit.i32())
    return emit.binary("shli", word, shift.value)


def _merged(quad: _Quad, condition: Any, distance: int, near: Any, far: Any) -> Any:
    """Of two words, the one that the thread keeps, with the bits that its neighbour has of it."""
    kept = quad.choose(condition, far, near)
    given = quad.choose(condition, near, far)
    return emit.value("arith.ori", (kept, quad.swap(given, distance)), emit.i32())


def _bitcast(value: Any, type_: Any) -> Any:
    return emit.value("llvm.bitcast", (value,), type_)
