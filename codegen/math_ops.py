"""math ops that CUDA's libdevice lacks, or for which it has longer code.

Upstream converts all others to calls of libdevice, and `codegen.libdevice` links the called functions.
This file emits single instructions: where libdevice has several (`tanh.approx`), where libdevice converts
to f32 (exact ops of 16 bits; `math.fma` would be rounded twice), and for `math.exp2` and `math.rsqrt`,
the most frequent ones, which then need no library. Ops without any lowering are refused.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..bindings.mlir import ir
from ..dialect.divisibility import constant_of
from ..ir.emit import constant, i32, value
from ..ir.emit import op as emit_op
from ..ir.walk import walk
from .errors import error_at

Value = Any

#: Exact ops on any float type, and their intrinsics.
_EXACT = {
    "math.absf": "llvm.fabs",
    "math.fma": "llvm.fma",
    "math.roundeven": "llvm.roundeven",
}

#: Tests of a number, and their classes: bits of LLVM's `FPClassTest`.
_CLASSES = {"math.isnan": 0x003, "math.isnormal": 0x108}

#: Approximations in f32, and their intrinsics.
_APPROXIMATE = {
    "math.exp2": "llvm.exp2",
    "math.rsqrt": "llvm.nvvm.rsqrt.approx.f",
    "math.sqrt": "llvm.sqrt",
    "math.tanh": "llvm.tanh",
}

#: With the flag `afn`, powers of two need not be subnormal: `ex2.approx` takes three instructions more.
_FLUSHING = {"math.exp2": "llvm.nvvm.ex2.approx.ftz.f"}

#: Ops that libdevice approximates too; the other approximations need the flag `afn` on the op.
_ALWAYS = {"math.exp2", "math.rsqrt"}

#: Ops of the LLVM dialect with the same meaning, which upstream refuses or LLVM cannot select.
_EQUIVALENT = {
    **{
        f"llvm.intr.{name}": f"math.{name}"
        for name in (
            *("acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "exp", "exp2"),
            *("floor", "log", "log10", "log2", "round", "roundeven", "sin", "sinh", "sqrt", "tan"),
            "tanh",
        )
    },
    "llvm.frem": "arith.remf",
    "llvm.intr.fabs": "math.absf",
    "llvm.intr.pow": "math.powf",
}

#: Ops of `arith` that upstream converts to calls.
_OF_ARITH = {"arith.maxnumf", "arith.minnumf", "arith.remf"}

#: Constant exponents for which products are shorter than libdevice's loop.
_MULTIPLIED = range(1, 9)

_ELEMENTS = ("f16", "bf16", "f32", "f64")


def lower_math(module: Any) -> None:
    """Replace math ops of a module's kernels in place; upstream lowers the ones that stay.

    Raises:
        CompileError: with a located diagnostic, for an op or a type that has no lowering.
    """
    for op in walk(module):
        name: str = _EQUIVALENT.get(op.name, str(op.name))
        if not name.startswith("math.") and name not in _OF_ARITH:
            continue
        if op.name == "math.fpowi":
            _narrow_exponent(op)
        _check(op)
        emit_element = _instruction(op, name)
        if emit_element is None:
            continue
        with ir.InsertionPoint(op), op.location:
            replacements = _by_elements(
                emit_element, list(op.operands), [result.type for result in op.results]
            )
        for result, replacement in zip(op.results, replacements, strict=True):
            result.replace_all_uses_with(replacement)
        op.erase()


def _narrow_exponent(op: Any) -> None:
    """Make an i32 of a constant exponent of another type, if it is one."""
    exponent = op.operands[1]
    number = constant_of(exponent)
    if number is not None and exponent.type != i32() and abs(number) < 1 << 31:
        with ir.InsertionPoint(op), op.location:
            op.operands[1] = constant(number, i32())


def _check(op: Any) -> None:
    type_, element = op.results[0].type, _element(op.operands[0].type)
    if isinstance(type_, ir.VectorType) and type_.scalable:
        raise error_at(op, f"is of {type_}; a kernel has no vectors of unknown length")
    is_integer = isinstance(element, ir.IntegerType | ir.IndexType)
    if not is_integer and str(element) not in _ELEMENTS:
        raise error_at(op, f"is of {element}; math is of {', '.join(_ELEMENTS)}")
    if op.name == "math.fpowi" and (exponent := _element(op.operands[1].type)) != i32():
        raise error_at(op, f"has an exponent of {exponent}; libdevice takes i32")
    if op.name == "math.ipowi":
        raise error_at(
            op,
            "has no lowering: neither PTX nor libdevice has powers of integers; multiply with "
            "arith.muli, or take math.fpowi of a float",
        )


def _instruction(op: Any, name: str) -> Callable[..., Sequence[Value]] | None:
    """Return a function from the operands of one element to the results; None if upstream lowers the
    op."""
    power = constant_of(op.operands[1]) if name == "math.fpowi" else None
    if power is not None and power in _MULTIPLIED:
        return partial(_power, power)
    if name in _EXACT:
        return partial(_intrinsic, _EXACT[name], "none")
    if name in _CLASSES:
        return partial(_fpclass, _CLASSES[name])
    narrow = name in _APPROXIMATE and _element(op.operands[0].type).width <= 32
    may_approximate = narrow and _flags(op) == "afn"
    if may_approximate and name in _FLUSHING:
        return partial(_in_f32, _FLUSHING[name])
    if may_approximate or (narrow and name in _ALWAYS):
        return partial(_in_f32, _APPROXIMATE[name])
    # Upstream makes calls for the elements of vectors, except for sincos.
    unchanged = op.name == name and not (name == "math.sincos" and _is_vector(op.results[0].type))
    return None if unchanged else partial(_of_math, name, _flags(op))


def _power(exponent: int, base: Value, _: Value) -> Sequence[Value]:
    """Emit products of a float, in f32 if it is narrower."""
    type_ = base.type
    wide = value("arith.extf", (base,), ir.F32Type.get()) if type_.width < 32 else base
    power = wide
    for bit in f"{exponent:b}"[1:]:
        power = value("arith.mulf", (power, power), power.type)
        if bit == "1":
            power = value("arith.mulf", (power, wide), power.type)
    return [value("arith.truncf", (power,), type_) if type_.width < 32 else power]


def _flags(op: Any) -> str:
    """Return "afn" if the op's fast-math flags allow an approximation, else "none"."""
    name = "fastmathFlags" if op.name.startswith("llvm.") else "fastmath"
    flags = re.findall(r"\w+", str(op.attributes[name]).partition("<")[2])
    return "none" if {"afn", "fast"}.isdisjoint(flags) else "afn"


def _is_vector(type_: Any) -> bool:
    return isinstance(type_, ir.VectorType)


def _element(type_: Any) -> Any:
    return type_.element_type if _is_vector(type_) else type_


def _intrinsic(name: str, flags: str, *operands: Value) -> Sequence[Value]:
    """Emit a call of an LLVM intrinsic whose result has the type of its operands."""
    return emit_op(
        "llvm.call_intrinsic",
        operands,
        [operands[0].type],
        intrin=ir.StringAttr.get(name),
        fastmathFlags=ir.Attribute.parse(f"#llvm.fastmath<{flags}>"),
        op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(operands), 0]),
    ).results


def _fpclass(classes: int, x: Value) -> Sequence[Value]:
    i1 = ir.IntegerType.get_signless(1)
    bits = ir.IntegerAttr.get(i32(), classes)
    return emit_op("llvm.intr.is.fpclass", (x,), [i1], bit=bits).results


def _in_f32(intrinsic: str, x: Value) -> Sequence[Value]:
    """Emit an approximation in f32 of a number that may be narrower."""
    type_, f32 = x.type, ir.F32Type.get()
    if type_ == f32:
        return _intrinsic(intrinsic, "afn", x)
    wide = _intrinsic(intrinsic, "afn", value("arith.extf", (x,), f32))
    return emit_op("arith.truncf", wide, [type_]).results


def _of_math(name: str, flags: str, *operands: Value) -> Sequence[Value]:
    """Emit the op with this name."""
    types = [operands[0].type] * (2 if name == "math.sincos" else 1)
    fastmath = ir.Attribute.parse(f"#arith.fastmath<{flags}>")
    return emit_op(name, operands, types, fastmath=fastmath).results


def _by_elements(
    make: Callable[..., Sequence[Value]], operands: list[Value], types: list[Any]
) -> Sequence[Value]:
    """Emit instructions for each element of vectors, or for numbers; return the results."""
    if not _is_vector(types[0]):
        return make(*operands)
    count = math.prod(types[0].shape)
    elements_of = [
        emit_op("vector.to_elements", (x,), [x.type.element_type] * count).results for x in operands
    ]
    results = [make(*elements) for elements in zip(*elements_of, strict=True)]
    return [
        value("vector.from_elements", elements, type_)
        for type_, elements in zip(types, zip(*results, strict=True), strict=True)
    ]
