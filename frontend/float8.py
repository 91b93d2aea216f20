"""Conversions of 8-bit floats as integer arithmetic, as linalg has them.

LLVM has no such types for a CPU, and the conversions of a GPU saturate.

The formats are those of the OCP 8-bit floating point specification: e5m2 is the upper byte of an f16;
e4m3fn has no infinity, and one NaN of each sign, 0x7f and 0xff.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import nan

from ..bindings.irtypes import Op, Type, Value
from ..bindings.mlir import ir
from ..ir import emit


@dataclass(frozen=True)
class _Format:
    """A format of 8 bits.

    Attributes:
        mantissa: bits of its mantissa.
        bias: of its exponent.
        overflow: the byte, without its sign, of numbers that are too large.
        nan: the byte of a NaN.
    """

    mantissa: int
    bias: int
    overflow: int
    nan: int


_FORMATS = {"f8E5M2": _Format(2, 15, 0x7C, 0x7E), "f8E4M3FN": _Format(3, 7, 0x7F, 0x7F)}

#: Bits of the mantissa, and the bias of the exponent, of f32.
_MANTISSA, _BIAS = 23, 127

_INFINITY = 0x7F800000


def convert_by_integers(ops: Iterable[Op]) -> None:
    """Replace `arith.extf` and `arith.truncf` of 8-bit floats.

    Args:
        ops: the ops of functions of the host, or of a body.
    """
    for op in ops:
        if op.name not in ("arith.extf", "arith.truncf"):
            continue
        (operand,), result_type = op.operands, op.results[0].type
        narrow = operand.type if op.name == "arith.extf" else result_type
        if str(narrow) not in _FORMATS:
            continue
        with op.location, ir.InsertionPoint(op):
            result = (
                _widen(operand, result_type)
                if op.name == "arith.extf"
                else _narrow(operand, narrow)
            )
        op.results[0].replace_all_uses_with(result)
        op.erase()


def _widen(operand: Value, type_: Type) -> Value:
    """Emit a float of an 8-bit float."""
    i16, f16, f32 = ir.IntegerType.get_signless(16), ir.F16Type.get(), ir.F32Type.get()
    byte = emit.value("arith.bitcast", (operand,), ir.IntegerType.get_signless(8))
    bits = emit.value("arith.extui", (byte,), i16)
    if str(operand.type) == "f8E5M2":
        half = emit.value("arith.bitcast", (emit.binary("shli", bits, 8),), f16)
        wide = emit.value("arith.extf", (half,), f32)
    else:
        # The bits of its magnitude are those of an f16 that is 2^8 times smaller, also of subnormals.
        magnitude = emit.binary("andi", bits, 0x7F)
        sign = emit.binary("shli", emit.binary("andi", bits, 0x80), 8)
        half_bits = emit.binary("ori", emit.binary("shli", magnitude, 7), sign)
        half = emit.value("arith.bitcast", (half_bits,), f16)
        scaled = emit.value("arith.extf", (half,), f32)
        number = emit.value("arith.mulf", (scaled, emit.constant(2.0**8, f32)), f32)
        is_nan = emit.compare("eq", magnitude, 0x7F)
        wide = emit.value("arith.select", (is_nan, emit.constant(nan, f32), number), f32)
    if type_ == f32:
        return wide
    return emit.value("arith.extf" if type_ == ir.F64Type.get() else "arith.truncf", (wide,), type_)


def _narrow(operand: Value, type_: Type) -> Value:
    """Emit an 8-bit float of a float, rounded to nearest, ties to even."""
    format_, i32, f32 = _FORMATS[str(type_)], emit.i32(), ir.F32Type.get()
    wide = operand if operand.type == f32 else emit.value("arith.extf", (operand,), f32)
    bits = emit.value("arith.bitcast", (wide,), i32)
    magnitude = emit.binary("andi", bits, 0x7FFFFFFF)
    lost = _MANTISSA - format_.mantissa
    # A carry of the mantissa is one of the exponent.
    is_odd = emit.binary("andi", emit.binary("shrui", magnitude, lost), 1)
    rounded = emit.binary("addi", emit.binary("addi", magnitude, (1 << lost - 1) - 1), is_odd)
    bias = (_BIAS - format_.bias) << format_.mantissa
    normal = emit.binary("subi", emit.binary("shrui", rounded, lost), bias)
    # The last place of the sum is that of subnormals, so the addition rounds.
    shift = 2.0 ** (_MANTISSA + 1 - format_.bias - format_.mantissa)
    absolute = emit.value("arith.bitcast", (magnitude,), f32)
    total = emit.value("arith.addf", (absolute, emit.constant(shift, f32)), f32)
    shift_bits = emit.value("arith.bitcast", (emit.constant(shift, f32),), i32)
    subnormal = emit.binary("subi", emit.value("arith.bitcast", (total,), i32), shift_bits)
    smallest = (_BIAS + 1 - format_.bias) << _MANTISSA
    code = emit.select(emit.compare("ult", magnitude, smallest), subnormal, normal)
    code = emit.value("arith.minui", (code, emit.constant(format_.overflow, i32)), i32)
    code = emit.select(emit.compare("ult", magnitude, _INFINITY + 1), code, format_.nan)
    sign = emit.binary("andi", emit.binary("shrui", bits, 24), 0x80)
    byte = emit.value(
        "arith.trunci", (emit.binary("ori", code, sign),), ir.IntegerType.get_signless(8)
    )
    return emit.value("arith.bitcast", (byte,), type_)
