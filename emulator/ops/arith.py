"""arith, and the equivalent ops of the LLVM dialect; all are elementwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...bindings.mlir import ir
from ..cta import ConvergentThreads
from ..errors import EmulationError
from ..floats import narrow, round_to
from ..kernel import Op
from ..registry import computes
from ..types import as_signed, dtype_of, shape_of, struct_members
from ..values import where


def _binary(names: tuple[str, ...], function: Callable[[Any, Any], Any]) -> None:
    computes(*names)(lambda op: function)


def _of_bits(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Extend a function of integers to i1, which NumPy represents as bool."""

    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if a.dtype.kind != "b":
            return function(a, b)
        return _truncate(function(a.view(np.uint8), b.view(np.uint8)), a.dtype)

    return apply


def _as_signed(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        integers = function(as_signed(a), as_signed(b))
        return _truncate(integers, a.dtype) if a.dtype.kind == "b" else integers.view(a.dtype)

    return apply


def _replace_zeros(b: np.ndarray) -> np.ndarray:
    """Replace zero divisors: division by zero is undefined."""
    return np.where(b == 0, np.ones(1, b.dtype), b)


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Divide, rounding toward zero."""
    divisor = _replace_zeros(b)
    down = a // divisor
    return down + ((down * divisor != a) & ((a < 0) != (b < 0)))


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a - _divide(a, b) * b


def _divide_up(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a // _replace_zeros(b) + (a % _replace_zeros(b) != 0)


def _shift(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return function(a, np.minimum(b, b.dtype.type(a.dtype.itemsize * 8 - 1)))

    return apply


def _arithmetic_shift(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (as_signed(a) >> as_signed(b)).view(a.dtype)


def maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the larger number, or NaN; +0 is larger than -0, unlike in NumPy."""
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the smaller number, or NaN; -0 is smaller than +0."""
    return -maximum(-a, -b)


for _names, _function in (
    (("arith.addi", "llvm.add"), _of_bits(np.add)),
    (("arith.subi", "llvm.sub"), _of_bits(np.subtract)),
    (("arith.muli", "llvm.mul"), _of_bits(np.multiply)),
    (("arith.divui", "llvm.udiv"), _of_bits(lambda a, b: a // _replace_zeros(b))),
    (("arith.remui", "llvm.urem"), _of_bits(lambda a, b: a % _replace_zeros(b))),
    (("arith.ceildivui",), _of_bits(_divide_up)),
    (("arith.divsi", "llvm.sdiv"), _as_signed(_divide)),
    (("arith.remsi", "llvm.srem"), _as_signed(_remainder)),
    (("arith.floordivsi",), _as_signed(lambda a, b: a // _replace_zeros(b))),
    (("arith.ceildivsi",), _as_signed(_divide_up)),
    (("arith.andi", "llvm.and"), np.bitwise_and),
    (("arith.ori", "llvm.or"), np.bitwise_or),
    (("arith.xori", "llvm.xor"), np.bitwise_xor),
    (("arith.shli", "llvm.shl"), _of_bits(_shift(np.left_shift))),
    (("arith.shrui", "llvm.lshr"), _of_bits(_shift(np.right_shift))),
    (("arith.shrsi", "llvm.ashr"), _of_bits(_shift(_arithmetic_shift))),
    (("arith.maxui", "llvm.intr.umax"), np.maximum),
    (("arith.minui", "llvm.intr.umin"), np.minimum),
    (("arith.maxsi", "llvm.intr.smax"), _as_signed(np.maximum)),
    (("arith.minsi", "llvm.intr.smin"), _as_signed(np.minimum)),
    (("arith.addf", "llvm.fadd"), np.add),
    (("arith.subf", "llvm.fsub"), np.subtract),
    (("arith.mulf", "llvm.fmul"), np.multiply),
    (("arith.maxnumf", "llvm.intr.maxnum"), np.fmax),
    (("arith.minnumf", "llvm.intr.minnum"), np.fmin),
    (("arith.maximumf", "llvm.intr.maximum"), maximum),
    (("arith.minimumf", "llvm.intr.minimum"), minimum),
):
    _binary(_names, _function)


def may_approximate(op: Op) -> bool:
    """Return whether the op's flags allow an instruction of f32 that approximates it."""
    flags = set(re.findall(r"\w+", op.text("fastmath") + op.text("fastmathFlags")))
    narrow = dtype_of(op.result_types[0], op.location).itemsize <= 4
    return narrow and not flags.isdisjoint({"afn", "fast"})


#: The largest divisor, without its sign, whose reciprocal `div.approx.f32` does not take for 0.
_MOST_DIVISOR = 2.0**126


def _approximate_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Divide as `div.approx.f32`: a * (1 / b) is 0, or NaN, if b is large and finite (PTX ISA, div)."""
    is_large = np.isfinite(b) & (np.abs(b) > b.dtype.type(_MOST_DIVISOR))
    return np.where(is_large, a * np.copysign(np.zeros(1, b.dtype), b), np.divide(a, b))


@computes("arith.divf", "llvm.fdiv")
def _quotient(op: Op) -> Any:
    has_range = dtype_of(op.result_types[0], op.location) != np.float16
    return _approximate_quotient if may_approximate(op) and has_range else np.divide


@computes("arith.negf", "llvm.fneg")
def _negate(op: Op) -> Any:
    return np.negative


def _bits(number: int, dtype: np.dtype) -> int:
    """Return an integer as unsigned bits; the bindings give signed integers, also for i1."""
    return int(number) & (1 if dtype.kind == "b" else (1 << dtype.itemsize * 8) - 1)


def _elements(value: Any, dtype: np.dtype) -> np.ndarray:
    """Return the elements of a dense constant; one element for a splat."""
    if dtype.kind in "bu":
        numbers = [value.get_splat_value().value] if value.is_splat else value
        return np.array([_bits(number, dtype) for number in numbers], dtype)
    if value.is_splat:
        return np.array([value.get_splat_value().value]).astype(dtype)
    if dtype.itemsize > 2:
        return np.array(list(value)).astype(dtype)
    # The bindings do not read elements of 16 bits. NaN and infinity print as bits, or the whole
    # constant does.
    text = str(value).rsplit(":", 1)[0]
    if whole := re.search(r'"0x([0-9A-F]+)"', text):
        return np.frombuffer(bytes.fromhex(whole[1]), dtype)
    words = re.findall(r"0x[0-9A-F]+|[-+.\dEe]*\d[-+.\dEe]*", text)
    return np.array([_float(word, dtype) for word in words], dtype)


def _float(word: str, dtype: np.dtype) -> Any:
    if word.startswith("0x"):
        return np.uint16(int(word, 16)).view(dtype)
    return np.float64(word).astype(dtype)


@computes("arith.constant", "llvm.mlir.constant")
def _constant(op: Op) -> Any:
    value, type_ = op.attribute("value"), op.result_types[0]
    dtype = dtype_of(type_, op.location)
    if isinstance(value, ir.IntegerAttr):
        array = np.array([_bits(value.value, dtype)], dtype)
    elif isinstance(value, ir.FloatAttr):
        array = np.array([value.value]).astype(dtype)
    elif isinstance(value, ir.BoolAttr):
        array = np.array([value.value])
    else:
        shape = shape_of(type_)
        if not isinstance(value, ir.DenseElementsAttr) or not shape:
            raise op.refuse(f"has a value that the emulator cannot read: {value}")
        array = np.broadcast_to(_elements(value, dtype), int(np.prod(shape))).reshape(1, *shape)
    return lambda: array


_PREDICATES: tuple[tuple[Callable[[Any, Any], Any], bool], ...] = (
    (np.equal, False),
    (np.not_equal, False),
    (np.less, True),
    (np.less_equal, True),
    (np.greater, True),
    (np.greater_equal, True),
    (np.less, False),
    (np.less_equal, False),
    (np.greater, False),
    (np.greater_equal, False),
)


@computes("arith.cmpi", "llvm.icmp")
def _compare(op: Op) -> Any:
    function, has_sign = _PREDICATES[op.number("predicate")]
    if not has_sign:
        return function
    return lambda a, b: function(as_signed(a), as_signed(b))


#: Float predicates as masks: 1 is equal, 2 greater, 4 less, 8 unordered.
_FLOAT_PREDICATES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 8, 15)


@computes("arith.cmpf", "llvm.fcmp")
def _compare_floats(op: Op) -> Any:
    predicate = _FLOAT_PREDICATES[op.number("predicate")]

    def step(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        matches = np.zeros(np.broadcast_shapes(a.shape, b.shape), bool)
        unordered = np.isnan(a) | np.isnan(b)
        for bit, holds in ((1, a == b), (2, a > b), (4, a < b), (8, unordered)):
            if predicate & bit:
                matches |= holds
        return matches

    return step


@computes("arith.select", "llvm.select")
def _select(op: Op) -> Any:
    if struct_members(op.result_types[0]) is not None:
        op.raw = True
        return _select_struct
    try:
        dtype_of(op.result_types[0], op.location)
    except EmulationError:
        raise op.refuse("selects between values that are not numbers") from None

    def step(condition: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        extra = (1,) * (max(a.ndim, b.ndim) - condition.ndim)
        return np.where(condition.reshape(*condition.shape, *extra), a, b)

    return step


def _select_struct(convergent: ConvergentThreads, condition: Any, a: Any, b: Any) -> Any:
    """Select structs, whose members may be in flight or poison: nothing reads them yet."""
    return where(convergent.broadcast(convergent.check_value(condition)), a, b)


def _cast(change: Callable[[np.ndarray, np.dtype], np.ndarray]) -> Callable[[Op], Any]:
    def make(op: Op) -> Any:
        dtype = dtype_of(op.result_types[0], op.location)
        return lambda a: change(a, dtype)

    return make


def _truncate(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Truncate, or extend by zeros."""
    return (a & a.dtype.type(1)).astype(bool) if dtype.kind == "b" else a.astype(dtype)


def _sign_extend(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return as_signed(a).astype(np.dtype(f"i{dtype.itemsize}")).view(dtype)


def _to_signed(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return a.astype(np.int64).astype(dtype)


def _to_unsigned(a: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return a.astype(np.uint64).astype(dtype)


computes("arith.extui", "llvm.zext")(_cast(lambda a, d: a.astype(d)))
computes("arith.extsi", "llvm.sext")(_cast(_sign_extend))
computes("arith.trunci", "llvm.trunc", "arith.index_castui")(_cast(_truncate))
computes("arith.index_cast")(
    _cast(lambda a, d: _truncate(a, d) if d.itemsize < a.dtype.itemsize else _sign_extend(a, d))
)
computes("arith.truncf", "llvm.fptrunc")(_cast(narrow))
computes("arith.extf", "llvm.fpext")(_cast(lambda a, d: a.astype(d)))
computes("arith.uitofp", "llvm.uitofp")(_cast(round_to))
computes("arith.sitofp", "llvm.sitofp")(_cast(lambda a, d: round_to(as_signed(a), d)))
computes("arith.fptoui", "llvm.fptoui")(_cast(_to_unsigned))
computes("arith.fptosi", "llvm.fptosi")(_cast(_to_signed))


@computes("builtin.unrealized_conversion_cast")
def _change_signedness(op: Op) -> Any:
    types = [*op.operand_types, *op.result_types]
    if not all(
        isinstance(type_, ir.IntegerType) and type_.width == types[0].width for type_ in types
    ):
        raise op.refuse("casts other values than integers, which the emulator does not know")
    return lambda a: a


@computes("arith.bitcast", "llvm.bitcast")
def _bitcast(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    shape = shape_of(op.result_types[0])

    def step(a: np.ndarray) -> np.ndarray:
        raw = np.ascontiguousarray(a).reshape(len(a), -1).view(np.uint8)
        return raw.view(dtype).reshape(len(a), *shape)

    return step
