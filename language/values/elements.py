"""Arithmetic on single elements: the ops of `arith` and `math` by operation and element type."""

from __future__ import annotations

from collections.abc import Callable
from math import e, frexp, log2
from typing import Any

from ...bindings.mlir import arith, ir, math
from ..dtypes import DType, b1, f32, f64, i32
from ..errors import TraceError
from ..trace import current

Build = Callable[..., Any]

_F, _I = arith.CmpFPredicate, arith.CmpIPredicate

#: Operations that `smem-uplift-to-fma` contracts.
_CONTRACTIBLE = ("+", "-", "*")

#: Operations with an approximation in PTX, of floats of up to 32 bits, and its name here.
APPROXIMATE = {"/": "fdiv"} | {
    name: f"{name}.approx" for name in ("cos", "exp", "exp2", "log", "log2", "sin", "sqrt", "tanh")
}

_EXACT = {approximate: exact for exact, approximate in APPROXIMATE.items()}

#: The largest power of two whose reciprocal is a normal number, by element type: its exponent.
_RECIPROCAL_EXPONENTS = {"f16": 14, "bf16": 126, "f32": 126, "f64": 1022}


def _remainder(a: Any, b: Any) -> Any:
    return arith.subi(a, arith.muli(arith.floordivsi(a, b), b))


def _negate(x: Any) -> Any:
    return arith.subi(current().constant(x.type, 0), x)


def _invert(x: Any) -> Any:
    return arith.xori(x, current().constant(x.type, 1 if str(x.type) == "i1" else -1))


#: What to write for operations that elements of floats do not have.
_INSTEAD = {"%": "write x - sl.floor(x / y) * y", "//": "write sl.floor(x / y)"}


#: Operations on two elements of a type, by name: of floats, of integers.
BINARY: dict[str, tuple[Build | None, Build | None]] = {
    "+": (arith.addf, arith.addi),
    "-": (arith.subf, arith.subi),
    "*": (arith.mulf, arith.muli),
    "/": (arith.divf, None),
    "//": (None, arith.floordivsi),
    "%": (None, _remainder),
    "maximum": (arith.maximumf, arith.maxsi),
    "minimum": (arith.minimumf, arith.minsi),
    "maxnum": (arith.maxnumf, None),
    "minnum": (arith.minnumf, None),
    "pow": (math.powf, None),
    "atan2": (math.atan2, None),
    "copysign": (math.copysign, None),
    "&": (None, arith.andi),
    "|": (None, arith.ori),
    "^": (None, arith.xori),
    "<<": (None, arith.shli),
    ">>": (None, arith.shrsi),
}

#: Comparisons; NaN compares false except by "!=".
COMPARISONS = {
    "<": (_F.OLT, _I.slt),
    "<=": (_F.OLE, _I.sle),
    ">": (_F.OGT, _I.sgt),
    ">=": (_F.OGE, _I.sge),
    "==": (_F.OEQ, _I.eq),
    "!=": (_F.UNE, _I.ne),
}

#: Functions of one element: of floats, of integers.
UNARY: dict[str, tuple[Build | None, Build | None]] = {
    "abs": (math.absf, math.absi),
    "ceil": (math.ceil, None),
    "cos": (math.cos, None),
    "erf": (math.erf, None),
    "exp": (math.exp, None),
    "exp2": (math.exp2, None),
    "floor": (math.floor, None),
    "log": (math.log, None),
    "log2": (math.log2, None),
    "invert": (None, _invert),
    "neg": (arith.negf, _negate),
    "rsqrt": (math.rsqrt, None),
    "sin": (math.sin, None),
    "sqrt": (math.sqrt, None),
    "tanh": (math.tanh, None),
}


def result_type(name: str, dtype: DType) -> DType:
    """Return the element type of an operation's result.

    Raises:
        TraceError: if elements of the type do not have the operation.
    """
    if name in COMPARISONS:
        return b1
    exact = _EXACT.get(name, name)
    builders = BINARY.get(exact) or UNARY.get(exact)
    if builders is None:
        raise TraceError(
            f"elements have no {name}; of matrices, write sl.mma(a, b), with B in a tile"
        )
    if builders[0 if dtype.is_float else 1] is None or (exact != name and dtype.bits > 32):
        instead = "convert them, by x.to(sl.f32)"
        if dtype.is_float and exact == name:
            instead = _INSTEAD.get(name, "convert them, by x.to(sl.i32)")
        raise TraceError(f"elements of {dtype} have no {name}; {instead}")
    return dtype


def is_of_floats(name: str) -> bool:
    """Return whether an operation takes indices as floats: `/`, and functions such as `sqrt`."""
    builders = BINARY.get(name) or UNARY.get(name)
    return builders is not None and builders[1] is None and name != "pow"


def build_operation(name: str, dtype: DType, operands: list[Any]) -> Any:
    """Build an operation on MLIR values of an element type, and return its value."""
    kind = 0 if dtype.is_float else 1
    if name in COMPARISONS:
        build = arith.cmpf if dtype.is_float else arith.cmpi
        return build(COMPARISONS[name][kind], *operands)
    exact = _EXACT.get(name, name)
    build = (BINARY.get(exact) or UNARY[exact])[kind]
    assert build is not None, name
    fastmath = _fastmath(name) if dtype.is_float else None
    if exact == "exp" and fastmath is not None and dtype == f32:
        # `math.exp` keeps subnormal results, by three more instructions.
        power = arith.mulf(*operands, constant(log2(e), f32))
        return math.exp2(power, fastmath=fastmath)
    return build(*operands) if fastmath is None else build(*operands, fastmath=fastmath)


def _fastmath(name: str) -> Any:
    """Return the fast-math flag of an operation of floats; None for none."""
    trace = current()
    if name in _EXACT or (trace.fast and name in APPROXIMATE):
        return arith.FastMathFlags.afn
    return arith.FastMathFlags.contract if trace.contract and name in _CONTRACTIBLE else None


def reciprocal(divisor: Any, dtype: DType) -> float | None:
    """Return the number to multiply by instead of a division by `divisor`; None to divide.

    The reciprocal of a power of two gives the same bytes. With `fast`, others are taken, too.
    """
    exponent = _RECIPROCAL_EXPONENTS.get(dtype.name)
    if exponent is None or not isinstance(divisor, int | float):
        return None
    if not 2.0**-exponent <= abs(divisor) <= 2.0**exponent:
        return None
    is_exact = frexp(divisor)[0] in (-0.5, 0.5)
    return 1.0 / divisor if is_exact or current().fast else None


def build_conversion(value: Any, source: DType, target: DType) -> Any:
    """Build the conversion of an element, and return its value.

    Floats are rounded to nearest even; a float becomes an integer by truncation.

    Raises:
        TraceError: if there is none.
    """
    if source == target:
        return value
    type_ = target.type
    if source.is_float and target.is_float:
        return (arith.extf if target.bits > source.bits else arith.truncf)(type_, value)
    if source.is_float and target.kind == "integer":
        return arith.fptosi(type_, value)
    if target in (f32, f64) or (target.is_float and source.kind != "index"):
        if source.kind == "index":
            value, source = arith.index_cast(i32.type, value), i32
        return (arith.uitofp if source == b1 else arith.sitofp)(type_, value)
    if "index" in (source.kind, target.kind) and "bool" not in (source.kind, target.kind):
        return arith.index_cast(type_, value)
    if source == b1 and target.kind == "integer":
        return arith.extui(type_, value)
    if source.kind == target.kind == "integer":
        return (arith.extsi if target.bits > source.bits else arith.trunci)(type_, value)
    raise TraceError(f"{source} is not converted to {target}")


def constant(number: float, dtype: DType) -> Any:
    """Return a constant of an element type.

    Raises:
        TraceError: for a fraction of an integer type.
    """
    type_ = dtype.type
    if dtype.is_float:
        return current().constant(type_, float(number))
    if int(number) != number:
        raise TraceError(f"{number} is used with {dtype}; expected a whole number, or x.to(sl.f32)")
    if dtype == b1:
        return current().constant(ir.IntegerType.get_signless(1), int(number))
    return current().constant(type_, int(number))
