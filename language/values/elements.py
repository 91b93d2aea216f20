"""Arithmetic on single elements: the ops of `arith` and `math` by operation and element type."""

from __future__ import annotations

from collections.abc import Callable
from math import e, frexp, log2
from typing import Any, NoReturn

from ...bindings.mlir import arith, ir, math
from ...dialect.elements import computed_type
from ..dtypes import DType, b1, bf16, f32, i8, i32, i64, u4, u8
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

#: Those of unsigned integers that differ.
_UNSIGNED: dict[str, Build] = {
    "//": arith.divui,
    "%": arith.remui,
    "maximum": arith.maxui,
    "minimum": arith.minui,
    ">>": arith.shrui,
    "abs": lambda value: value,
}

#: Comparisons of floats, of integers and of unsigned integers; NaN compares false except by "!=".
COMPARISONS = {
    "<": (_F.OLT, _I.slt, _I.ult),
    "<=": (_F.OLE, _I.sle, _I.ule),
    ">": (_F.OGT, _I.sgt, _I.ugt),
    ">=": (_F.OGE, _I.sge, _I.uge),
    "==": (_F.OEQ, _I.eq, _I.eq),
    "!=": (_F.UNE, _I.ne, _I.ne),
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
    if dtype.bits < 8 and dtype.kind == "integer":
        _refuse(name, dtype, u8 if dtype == u4 else i8)
    if dtype.is_float and dtype.bits < 16:
        _refuse(name, dtype, f32)
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


def _refuse(name: str, dtype: DType, wider: DType) -> NoReturn:
    raise TraceError(
        f"elements of {dtype} have no {name}; convert them, for example by x.to(sl.{wider})"
    )


def check_shift(name: str, dtype: DType, operands: tuple[Any, ...]) -> None:
    """Check that a shift by a Python number is by fewer bits than an element has.

    Raises:
        TraceError: if it is not.
    """
    if name not in ("<<", ">>") or not isinstance(operands[1], int):
        return
    if not 0 <= operands[1] < dtype.bits:
        raise TraceError(
            f"elements of {dtype} are shifted by {operands[1]} bits; expected 0 to {dtype.bits - 1}"
        )


def signless(value: Any) -> Any:
    """Return an integer with the signless type of arithmetic, of the same bits."""
    return _cast_integer(value, computed_type(value.type))


def with_sign(value: Any, dtype: DType) -> Any:
    """Return an integer of arithmetic with the type of memory."""
    return _cast_integer(value, dtype.type)


def _cast_integer(value: Any, type_: Any) -> Any:
    if value.type == type_:
        return value
    name = "builtin.unrealized_conversion_cast"
    return ir.Operation.create(name, [type_], [value]).result


def build_operation(name: str, dtype: DType, operands: list[Any]) -> Any:
    """Build an operation on MLIR values of an element type, and return its value."""
    kind = 0 if dtype.is_float else 1
    is_unsigned = dtype.kind == "integer" and not dtype.is_signed
    if name in COMPARISONS:
        build = arith.cmpf if dtype.is_float else arith.cmpi
        return build(COMPARISONS[name][2 if is_unsigned else kind], *operands)
    if is_unsigned and name in _UNSIGNED:
        return _UNSIGNED[name](*operands)
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
    options = current().options
    if name in _EXACT or (options.fast and name in APPROXIMATE):
        return arith.FastMathFlags.afn
    return arith.FastMathFlags.contract if options.contract and name in _CONTRACTIBLE else None


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
    return 1.0 / divisor if is_exact or current().options.fast else None


def build_conversion(value: Any, source: DType, target: DType) -> Any:
    """Build the conversion of an element, and return its value.

    Floats are rounded to nearest even; a float becomes an integer by truncation. Types of fewer than 32
    bits get the nearest number that they hold, floats of 8 bits too.

    Raises:
        TraceError: if there is none.
    """
    if source == target:
        return value
    type_ = target.computed_type
    if source.is_float and target.is_float:
        return _convert_float(value, source, target)
    if source.is_float and target.kind == "integer":
        if target.bits < 32:
            value = _convert_float(value, source, f32)
            low, high = target.bounds
            value = arith.minnumf(arith.maxnumf(value, constant(low, f32)), constant(high, f32))
            return _resize(arith.fptosi(i32.type, value), i32, target)
        wide = _convert_float(value, source, f32) if source.bits < 16 else value
        return arith.fptosi(type_, wide)
    if source.is_float and target.kind == "index":
        return arith.index_cast(type_, build_conversion(value, source, i64))
    if target.is_float and target.bits == 8:
        return _convert_float(build_conversion(value, source, f32), f32, target)
    if target.is_float:
        if source.kind == "index":
            value, source = arith.index_cast(i64.type, value), i64
        return (arith.sitofp if source.is_signed else arith.uitofp)(type_, value)
    if source.kind == "index" and target.kind == "integer" and target.bits < 32:
        return build_conversion(arith.index_cast(i64.type, value), i64, target)
    if source.kind == "integer" and target.kind == "index" and not source.is_signed:
        return arith.index_castui(type_, value)
    if "index" in (source.kind, target.kind) and "bool" not in (source.kind, target.kind):
        return arith.index_cast(type_, value)
    if source == b1 and target.kind == "integer":
        return arith.extui(type_, value)
    if source.kind == target.kind == "integer":
        return _resize(_clamp(value, source, target), source, target)
    raise TraceError(f"{source} is not converted to {target}")


def _convert_float(value: Any, source: DType, target: DType) -> Any:
    """Return a float converted to another type, by way of f32 if neither holds all of the other."""
    if source == target:
        return value
    same = source.bits == target.bits and f32 not in (source, target)
    if same or (source.bits == 8 and target == bf16):
        return _convert_float(_convert_float(value, source, f32), f32, target)
    return (arith.extf if target.bits > source.bits else arith.truncf)(target.type, value)


def _clamp(value: Any, source: DType, target: DType) -> Any:
    """Return an integer as the nearest one that a type of fewer than 32 bits holds."""
    if target.bits >= 32:
        return value
    for bound, name in zip(target.bounds, ("maximum", "minimum"), strict=True):
        inside = source.bounds[0] < bound if name == "maximum" else bound < source.bounds[1]
        if inside:
            value = build_operation(name, source, [value, constant(bound, source)])
    return value


def _resize(value: Any, source: DType, target: DType) -> Any:
    """Return an integer with the bits of another type."""
    bits, wanted = max(8, source.bits), max(8, target.bits)
    if bits == wanted:
        return value
    if wanted < bits:
        return arith.trunci(target.computed_type, value)
    return (arith.extsi if source.is_signed else arith.extui)(target.computed_type, value)


def check_bitcast(source: DType, target: DType) -> None:
    """Check that elements can be cast to another type.

    Raises:
        TraceError: for a type of other bits.
    """
    if source.bits != target.bits or {source.kind, target.kind} - {"integer", "float"}:
        raise TraceError(
            f"elements of {source} are cast to {target}, which has {target.bits} bits; expected "
            f"a type of {source.bits} bits"
        )


def build_bitcast(value: Any, source: DType, target: DType) -> Any:
    """Build the element of another type with the same bits, and return its value."""
    if source.bits == 4:
        # A nibble is extended to 8 bits in arithmetic.
        if target.is_signed:
            four = constant(4, i8)
            return arith.shrsi(arith.shli(value, four), four)
        return arith.andi(value, constant(15, i8))
    if source.computed_type == target.computed_type:
        return value
    return arith.bitcast(target.computed_type, value)


def check_number(number: float, dtype: DType) -> None:
    """Check that an integer type of fewer than 32 bits holds a number.

    Raises:
        TraceError: if it does not.
    """
    if dtype.kind != "integer" or dtype.bits >= 32:
        return
    low, high = dtype.bounds
    if not low <= number <= high:
        raise TraceError(
            f"{number} is used with {dtype}, which holds {low} to {high}; convert x before, for example "
            "by x.to(sl.i32)"
        )


def constant(number: float, dtype: DType) -> Any:
    """Return a constant of an element type.

    Raises:
        TraceError: for a fraction of an integer type, or a number beyond the range of a narrow one.
    """
    if dtype.is_float:
        return current().constant(dtype.type, float(number))
    if isinstance(number, float) and not number.is_integer():
        raise TraceError(f"{number} is used with {dtype}; expected a whole number, or x.to(sl.f32)")
    if dtype == b1:
        return current().constant(ir.IntegerType.get_signless(1), int(number))
    check_number(number, dtype)
    type_ = dtype.computed_type
    if dtype.kind == "integer" and not dtype.is_signed and number > 127:
        number -= 256  # An attribute of a signless type has a signed number.
    return current().constant(type_, int(number))
