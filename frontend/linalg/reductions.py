"""Reductions of linalg by ops whose order does not matter, also over the lanes of a warp."""

from __future__ import annotations

from math import inf

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...layout.transfer import WARP
from .generic import body, owner, terminator

#: Ops that combine what lanes have reduced, with their neutral numbers.
_NEUTRAL: dict[str, float] = {
    "arith.addf": 0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": -inf,
    "arith.minimumf": inf,
    "arith.maxnumf": -inf,
    "arith.minnumf": inf,
    "arith.addi": 0,
    "arith.muli": 1,
    "arith.andi": -1,
    "arith.ori": 0,
}

#: Types that shuffles move, as one word or two.
_SHUFFLED = ("f32", "i32", "f64", "i64")


def combiner_of(op: Op) -> Op | None:
    """Return the op of a body that combines its output's element with another value.

    None if lanes do not reduce together: for another body, several outputs, or types that shuffles do not
    move.
    """
    block = body(op)
    yielded = terminator(block).operands
    if len(yielded) != 1:
        return None
    combiner = owner(yielded[0])
    element = block.arguments[len(block.arguments) - 1]
    if combiner is None or combiner.name not in _NEUTRAL or len(list(element.uses)) != 1:
        return None
    if element not in list(combiner.operands) or str(element.type) not in _SHUFFLED:
        return None
    return combiner


def neutral(combiner: Op) -> Value:
    """Emit the number that a reduction begins with."""
    return emit.constant(_NEUTRAL[combiner.name], combiner.results[0].type)


def combine(combiner: Op, left: Value, right: Value) -> Value:
    """Emit a combination of two numbers."""
    attributes = {name: combiner.attributes[name] for name in combiner.attributes}
    return emit.value(combiner.name, (left, right), left.type, **attributes)


def combine_lanes(combiner: Op, total: Value, lanes: int = WARP) -> Value:
    """Emit the combination of what neighbouring lanes have, a power of two; each gets the result."""
    distance = lanes // 2
    while distance:
        total = combine(combiner, total, _shuffle(total, distance))
        distance //= 2
    return total


def _shuffle(number: Value, distance: int) -> Value:
    """Emit the exchange of a number with the lane at a distance."""
    type_ = number.type
    if str(type_) in ("f32", "i32"):
        types = [type_, ir.IntegerType.get_signless(1)]
        operands = (number, emit.constant(distance, emit.i32()), emit.constant(WARP, emit.i32()))
        xor = ir.Attribute.parse("#gpu<shuffle_mode xor>")
        return emit.op("gpu.shuffle", operands, types, mode=xor).results[0]
    word = number if str(type_) == "i64" else emit.value("arith.bitcast", (number,), emit.i64())
    upper = emit.binary("shrui", word, WARP)
    low, high = (
        emit.value("arith.extui", (_shuffle(x, distance),), emit.i64())
        for x in (emit.value("arith.trunci", (x,), emit.i32()) for x in (word, upper))
    )
    moved = emit.binary("ori", emit.binary("shli", high, WARP), low)
    return moved if str(type_) == "i64" else emit.value("arith.bitcast", (moved,), type_)
