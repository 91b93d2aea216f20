"""math ops before upstream lowers them to calls of CUDA's libdevice, which `codegen.libdevice` links.

What is one or two instructions of PTX is put in its place here: exact ops, and approximations where
libdevice itself uses them (`math.exp2`, `math.rsqrt`) or `fastmath<afn>` allows them. What is more goes
to libdevice, element by element. Ops that neither has are refused.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..dialect.bindings import ir
from ..ir.emit import i32, i64, value
from ..ir.emit import op as emit_op
from ..ir.walk import walk
from .errors import CompileError, located
from .libdevice import find_libdevice

Value = Any


def _intrinsic(name: str, *operands: Value, approximate: bool = False) -> Value:
    """A call of an intrinsic of LLVM whose result is of its operands' type."""
    flags = ir.Attribute.parse(f"#llvm.fastmath<{'afn' if approximate else 'none'}>")
    return value(
        "llvm.call_intrinsic",
        operands,
        operands[0].type,
        intrin=ir.StringAttr.get(name),
        fastmathFlags=flags,
        op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([len(operands), 0]),
    )


def _is(classes: int, x: Value) -> Value:
    """Whether a number is of one of the classes, bits of LLVM's `FPClassTest`."""
    i1 = ir.IntegerType.get_signless(1)
    return value("llvm.intr.is.fpclass", (x,), i1, bit=ir.IntegerAttr.get(i32(), classes))


def _of_integer(name: str, x: Value, **attributes: bool) -> Value:
    """An intrinsic of LLVM of an integer or an index."""
    flags = {flag: ir.BoolAttr.get(on) for flag, on in attributes.items()}
    if not isinstance(x.type, ir.IndexType):
        return value(name, (x,), x.type, **flags)
    wide = value("arith.index_cast", (x,), i64())
    return value("arith.index_cast", (value(name, (wide,), i64(), **flags),), x.type)


def _clamp(x: Value, low: Value, high: Value) -> Value:
    return value("arith.maximumf", (value("arith.minimumf", (x, high), x.type), low), x.type)


def _times(x: Value, factor: float) -> Value:
    number = ir.FloatAttr.get(x.type, factor)
    return value("arith.mulf", (x, value("arith.constant", (), x.type, value=number)), x.type)


def _exp2(x: Value) -> Value:
    return _intrinsic("llvm.exp2", x, approximate=True)


def _log2(x: Value) -> Value:
    return _intrinsic("llvm.nvvm.lg2.approx.f", x)


def _power(x: Value, y: Value) -> Value:
    return _exp2(value("arith.mulf", (y, _log2(x)), x.type))


#: Ops that are exact, of any float type.
_EXACT: dict[str, Callable[..., Value]] = {
    "math.absf": partial(_intrinsic, "llvm.fabs"),
    "math.ceil": partial(_intrinsic, "llvm.ceil"),
    "math.clampf": _clamp,
    "math.copysign": partial(_intrinsic, "llvm.copysign"),
    "math.floor": partial(_intrinsic, "llvm.floor"),
    "math.fma": partial(_intrinsic, "llvm.fma"),
    "math.isfinite": partial(_is, 0x1F8),
    "math.isinf": partial(_is, 0x204),
    "math.isnan": partial(_is, 0x003),
    "math.isnormal": partial(_is, 0x108),
    "math.round": partial(_intrinsic, "llvm.round"),
    "math.roundeven": partial(_intrinsic, "llvm.roundeven"),
    "math.sqrt": partial(_intrinsic, "llvm.sqrt"),
    "math.trunc": partial(_intrinsic, "llvm.trunc"),
    "arith.maxnumf": partial(_intrinsic, "llvm.maxnum"),
    "arith.minnumf": partial(_intrinsic, "llvm.minnum"),
}

#: Ops of integers.
_INTEGER: dict[str, Callable[..., Value]] = {
    "math.absi": partial(_of_integer, "llvm.intr.abs", is_int_min_poison=False),
    "math.ctlz": partial(_of_integer, "llvm.intr.ctlz", is_zero_poison=False),
    "math.ctpop": partial(_of_integer, "llvm.intr.ctpop"),
    "math.cttz": partial(_of_integer, "llvm.intr.cttz", is_zero_poison=False),
}

#: Approximations in f32 that libdevice is, too.
_ALWAYS: dict[str, Callable[..., Value]] = {
    "math.exp2": _exp2,
    "math.rsqrt": partial(_intrinsic, "llvm.nvvm.rsqrt.approx.f"),
}

#: Approximations in f32 that an op must allow.
_ALLOWED: dict[str, Callable[..., Value]] = {
    "math.exp": lambda x: _exp2(_times(x, math.log2(math.e))),
    "math.log2": _log2,
    "math.log": lambda x: _times(_log2(x), math.log(2)),
    "math.log10": lambda x: _times(_log2(x), math.log10(2)),
    "math.powf": _power,
    "math.tanh": partial(_intrinsic, "llvm.tanh", approximate=True),
    "math.sin": partial(_intrinsic, "llvm.sin", approximate=True),
    "math.cos": partial(_intrinsic, "llvm.cos", approximate=True),
    "math.sqrt": partial(_intrinsic, "llvm.sqrt", approximate=True),
}

#: Ops of which upstream makes calls of libdevice.
_CALLS = {
    *(f"math.{name}" for name in ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh")),
    *(f"math.{name}" for name in ("cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1")),
    *(f"math.{name}" for name in ("fpowi", "log", "log10", "log1p", "log2", "powf", "rsqrt")),
    *(f"math.{name}" for name in ("sin", "sincos", "sinh", "tan", "tanh")),
    "arith.remf",
}

#: Ops of the LLVM dialect that mean the same, which upstream refuses or the code generator does not know.
_MEANS: dict[str, str] = {
    **{
        f"llvm.intr.{name}": f"math.{name}"
        for name in (
            *("acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "exp", "exp2"),
            *("floor", "fma", "log", "log10", "log2", "round", "roundeven", "sin", "sinh", "sqrt"),
            *("tan", "tanh", "trunc"),
        )
    },
    "llvm.frem": "arith.remf",
    "llvm.intr.fabs": "math.absf",
    "llvm.intr.nearbyint": "math.roundeven",
    "llvm.intr.pow": "math.powf",
    "llvm.intr.rint": "math.roundeven",
}

#: What is refused, and what serves instead.
_REFUSED = {
    "math.ipowi": "neither PTX nor libdevice has powers of integers; multiply with arith.muli, or take "
    "math.fpowi of a float"
}

_ELEMENTS = ("f16", "bf16", "f32", "f64")


def lower_math(module: Any) -> None:
    """Replaces the math ops of a module's kernels in place: what stays, upstream lowers.

    Raises:
        CompileError: with a located diagnostic, for an op or a type that nothing computes, and for
            an op that needs libdevice where there is none.
    """
    for op in walk(module, *_EXACT, *_INTEGER, *_CALLS, *_MEANS, *_REFUSED):
        name = _MEANS.get(op.name, str(op.name))
        if name in _REFUSED:
            raise located(op, f"has no lowering: {_REFUSED[name]}")
        _check_types(op)
        make = _instruction(op, name)
        if make is None:
            _check_library(op, name)
            if op.name == name and not isinstance(op.results[0].type, ir.VectorType):
                continue
            make = partial(_same, op, name)
        with ir.InsertionPoint(op), op.location:
            found = _by_elements(make, list(op.operands), [result.type for result in op.results])
        for result, new in zip(op.results, found, strict=True):
            result.replace_all_uses_with(new)
        op.erase()


def _check_types(op: Any) -> None:
    type_ = op.results[0].type
    if isinstance(type_, ir.VectorType) and type_.scalable:
        raise located(op, f"is of {type_}; a kernel has no vectors of unknown length")
    if op.name in _INTEGER:
        return
    element = _element(op.operands[0].type)
    if str(element) not in _ELEMENTS:
        raise located(op, f"is of {element}; math is of {', '.join(_ELEMENTS)}")
    if op.name == "math.fpowi" and (exponent := _element(op.operands[1].type)) != i32():
        raise located(op, f"has an exponent of {exponent}; libdevice takes i32")


def _check_library(op: Any, name: str) -> None:
    try:
        find_libdevice()
    except CompileError as error:
        narrow = _element(op.operands[0].type).width <= 32
        instead = "; fastmath<afn> makes it an instruction" if name in _ALLOWED and narrow else ""
        raise located(op, f"calls a library: {error}{instead}") from None


def _instruction(op: Any, name: str) -> Callable[..., Value] | None:
    """From the operands of one element to the result; None where that takes libdevice."""
    if name in _INTEGER:
        return _INTEGER[name]
    narrow = _element(op.operands[0].type).width <= 32
    if name in _ALLOWED and narrow and _allows_approximation(op):
        return partial(_in_f32, _ALLOWED[name])
    if name in _ALWAYS and narrow:
        return partial(_in_f32, _ALWAYS[name])
    return _EXACT.get(name)


def _allows_approximation(op: Any) -> bool:
    """Whether the op's fast-math flags let it be an approximation."""
    name = "fastmathFlags" if op.name.startswith("llvm.") else "fastmath"
    flags = re.search(r"<(.*)>", str(op.attributes[name]))
    return flags is not None and not {"afn", "fast"}.isdisjoint(re.split(r",\s*", flags[1]))


def _element(type_: Any) -> Any:
    return type_.element_type if isinstance(type_, ir.VectorType) else type_


def _same(op: Any, name: str, *operands: Value) -> Sequence[Value]:
    """The op of one element."""
    flags = "afn" if _allows_approximation(op) else "none"
    types = [_element(result.type) for result in op.results]
    fastmath = ir.Attribute.parse(f"#arith.fastmath<{flags}>")
    return emit_op(name, operands, types, fastmath=fastmath).results


def _in_f32(make: Callable[..., Value], *operands: Value) -> Value:
    """What instructions of f32 make of narrower operands."""
    type_, f32 = operands[0].type, ir.F32Type.get()
    if type_ == f32:
        return make(*operands)
    found = make(*(value("arith.extf", (x,), f32) for x in operands))
    return value("arith.truncf", (found,), type_)


def _by_elements(make: Callable[..., Any], operands: list[Value], types: list[Any]) -> list[Value]:
    """The results that instructions make of each element of vectors, or of numbers."""
    if not isinstance(types[0], ir.VectorType):
        return _results(make(*operands))
    count = math.prod(types[0].shape)
    apart = [
        emit_op("vector.to_elements", (x,), [x.type.element_type] * count).results for x in operands
    ]
    made = [_results(make(*elements)) for elements in zip(*apart, strict=True)]
    return [
        value("vector.from_elements", elements, type_)
        for type_, elements in zip(types, zip(*made, strict=True), strict=True)
    ]


def _results(made: Any) -> list[Value]:
    return [made] if isinstance(made, ir.Value) else list(made)
