"""Exchanges of values between the lanes of a warp."""

from ....bindings.irtypes import Value
from ....bindings.mlir import ir
from ....ir import emit

#: All lanes of a warp.
_EVERYONE = -1

#: PTX ISA, shfl.sync: segments of 4 lanes (mask 28 in bits 8-12), or of 32; any lane of a segment (31).
_QUADS, _WARP = 28 << 8 | 31, 31


def value_of_lane(value: Value, lane: Value) -> Value:
    """Return the i32 `value` of the thread of the same quad with a number (i32, 0 to 3)."""
    return _shuffle("idx", value, lane, _QUADS)


def exchanged(value: Value, distance: int) -> Value:
    """Return the `value` (32 bits, or f16) of the lane whose number differs in the bit `distance`."""
    if isinstance(value.type, ir.F16Type):
        i16 = ir.IntegerType.get_signless(16)
        bits = emit.value("arith.bitcast", (value,), i16)
        word = exchanged(emit.value("arith.extui", (bits,), emit.i32()), distance)
        return emit.value(
            "arith.bitcast", (emit.value("arith.trunci", (word,), i16),), ir.F16Type.get()
        )
    segment = _QUADS if distance < 4 else _WARP
    return _shuffle("bfly", value, emit.constant(distance, emit.i32()), segment)


def _shuffle(kind: str, value: Value, lane: Value, segment: int) -> Value:
    return emit.value(
        "nvvm.shfl.sync",
        (
            emit.constant(_EVERYONE, emit.i32()),
            value,
            lane,
            emit.constant(segment, emit.i32()),
        ),
        value.type,
        kind=ir.Attribute.parse(f"#nvvm<shfl_kind {kind}>"),
    )
