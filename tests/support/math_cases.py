"""Math ops: the exact function, the intervals of the tests, and the documented error bound.

`tests/gpu/test_math_on_chip.py` and `benchmarks/math_accuracy.py` run them on a chip and the emulator.
Bounds are those of NVIDIA's documentation, which counts ULPs from the correctly rounded result:

- CUDA C++ Programming Guide 13.0, 17.1 "Standard Functions", tables 17 (f32) and 18 (f64);
- the same, 17.2 "Intrinsic Functions", table 21, for `exp`, `log`, `log2` and `log10` with
`fastmath<afn>`
  (`__expf` and so on), and for the composition of `powf` and `tan`;
- PTX ISA 9.1, 9.7.3, for `ex2`, `sin`, `cos`, `tanh` and `sqrt` with `.approx`.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
Interval = tuple[float, float]

_PERIOD = 2 * np.pi


@dataclass(frozen=True)
class Bound:
    """The error bound of a result.

    Attributes:
        ulps: ULPs from the correctly rounded number; a number, or a function of the operands.
        absolute: intervals of the first operand, and the absolute error that is allowed there.
        text: the bound as text, if `ulps` is a function.
    """

    ulps: float | Callable[..., Array]
    absolute: tuple[tuple[Interval, float], ...] = ()
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"{self.ulps:g}"

    def allowed_ulps(self, *operands: Array) -> Array:
        """Return the allowed ULPs for each row of operands."""
        ulps = self.ulps(*operands) if callable(self.ulps) else self.ulps
        return np.nan_to_num(
            np.broadcast_to(np.asarray(ulps, float), operands[0].shape), posinf=np.inf
        )

    def allowed_difference(self, operand: Array) -> Array:
        """Return the allowed absolute error for each row; 0 where there is none."""
        differences = np.zeros(operand.shape)
        for (low, high), difference in self.absolute:
            inside = (operand >= low) & (operand <= high)
            differences = np.where(inside & (differences == 0), difference, differences)
        return differences


@dataclass(frozen=True)
class Function:
    """A math op of floats.

    Attributes:
        line: the op as text, from %a, %b, %c of type {e} to %r.
        exact: the exact number, from operands of long double; None if only the emulator computes it.
        intervals: the interval of each operand for random numbers.
        f32, f64: bounds; None if NVIDIA documents none.
        elements: the element types that the op supports.
    """

    line: str
    exact: Callable[..., Array] | None
    intervals: tuple[Interval, ...]
    f32: Bound | None
    f64: Bound | None
    elements: tuple[str, ...] = ("f16", "bf16", "f32", "f64")

    def __str__(self) -> str:
        op = next(word for word in self.line.split() if "." in word)
        second = ", second result" * ("%o, %r" in self.line)
        return op + second + " fastmath<afn>" * ("afn" in self.line)

    def error_bound(self, element: str) -> Bound | None:
        """Return the bound in f64, or in f32, in which 16-bit types are computed."""
        return self.f64 if element == "f64" else self.f32


def _from_libm(name: str) -> Callable[[Array], Array]:
    """Return a long double function of C's library that NumPy lacks; its result is rounded to f64."""
    function = getattr(ctypes.CDLL("libm.so.6"), name)
    function.restype, function.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
    vectorized = np.vectorize(lambda x: function(float(x)), otypes=[np.float64])
    return lambda a: vectorized(a).astype(np.longdouble)


def _away(a: Array) -> Array:
    return np.copysign(np.floor(np.abs(a) + 0.5), a)


def _power_by_exp2(x: Array, y: Array) -> Array:
    """ULPs of `exp2f(y * __log2f(x))`: the error of the exponent, by table 21, times ln 2, and that of
    exp2f."""
    with np.errstate(all="ignore"):
        logarithm = np.abs(np.log2(x))
        exponent = (
            np.abs(y) * np.maximum(logarithm, 1) * 2.0**-22 + np.abs(y) * logarithm * 2.0**-24
        )
        return 2 + np.nan_to_num(exponent * np.log(2) * 2.0**24, nan=np.inf)


#: The absolute error of `sin.approx` and `cos.approx` in intervals. Within 2π the PTX ISA documents
#: 2^-20.5, but an H200's cos(-4.8274598) is 2^-20.48 off. The machine code multiplies by 1/2π and rounds
#: toward zero, which alone makes up to 2^-20.60 (of all f32 within 2π); the table adds 1.4e-7 there.
_PERIOD_BOUNDS = (((-_PERIOD, _PERIOD), 2**-20.25), ((-50 * _PERIOD, 50 * _PERIOD), 2**-14.7))


def _sine_by_cosine(x: Array) -> Array:
    """ULPs of `__sinf(x) * (1 / __cosf(x))`: the errors of both, and 2 of the quotient (`div.approx`)."""
    off = Bound(0, _PERIOD_BOUNDS).allowed_difference(x)
    sine, cosine = np.abs(np.sin(x)), np.abs(np.cos(x))
    with np.errstate(all="ignore"):
        above, below = off / sine, off / (cosine - off)
        ulps = 2 + 2.0**24 * (above + below + above * below)
    return np.where((off > 0) & (cosine > off), ulps, np.inf)


def _unary(name: str, exact: Callable, low: float, high: float, f32: float, f64: float) -> Function:
    line = f"%r = math.{name} %a : {{e}}"
    return Function(line, exact, ((low, high),), Bound(f32), Bound(f64))


def _fast(name: str, exact: Callable, low: float, high: float, bound: Bound | None) -> Function:
    line = f"%r = math.{name} %a fastmath<afn> : {{e}}"
    return Function(line, exact, ((low, high),), bound, None, ("f16", "bf16", "f32"))


def _truth(name: str, exact: Callable | None) -> Function:
    line = f"%t = math.{name} %a : {{e}}\n%r = arith.uitofp %t : i1 to {{e}}"
    return Function(line, exact, ((-10, 10),), Bound(0), Bound(0))


_EXACT = Bound(0)
_TWO, _THREE = ((-10, 10),) * 2, ((-10, 10),) * 3
_CIRCULAR = Bound(
    lambda x: np.where(np.abs(x) <= 50 * _PERIOD, 0, np.inf),
    _PERIOD_BOUNDS,
    "2^-20.5 absolute within 2π, 2^-14.7 within 100π",
)
_HALF_TO_TWO = (0.5, 2.0)

FUNCTIONS = (
    _unary("absf", np.abs, -10, 10, 0, 0),
    _unary("acos", np.arccos, -1, 1, 2, 2),
    _unary("acosh", np.arccosh, 1, 100, 4, 3),
    _unary("asin", np.arcsin, -1, 1, 2, 2),
    _unary("asinh", np.arcsinh, -100, 100, 3, 3),
    _unary("atan", np.arctan, -10, 10, 2, 2),
    Function("%r = math.atan2 %a, %b : {e}", np.arctan2, _TWO, Bound(3), Bound(2)),
    _unary("atanh", np.arctanh, -1, 1, 3, 2),
    _unary("cbrt", np.cbrt, -100, 100, 1, 1),
    _unary("ceil", np.ceil, -100, 100, 0, 0),
    Function(
        "%r = math.clampf %a to [%b, %c] : {e}",
        lambda x, low, high: np.maximum(np.minimum(x, high), low),
        _THREE,
        _EXACT,
        _EXACT,
    ),
    Function("%r = math.copysign %a, %b : {e}", np.copysign, _TWO, _EXACT, _EXACT),
    _unary("cos", np.cos, -100, 100, 2, 2),
    _unary("cosh", np.cosh, -100, 100, 2, 1),
    _unary("erf", _from_libm("erfl"), -4, 4, 2, 2),
    _unary("erfc", _from_libm("erfcl"), -6, 28, 4, 5),
    _unary("exp", np.exp, -750, 715, 2, 1),
    _unary("exp2", np.exp2, -1080, 1030, 2, 1),
    _unary("expm1", np.expm1, -50, 100, 1, 1),
    _unary("floor", np.floor, -100, 100, 0, 0),
    Function(
        "%r = math.fma %a, %b, %c : {e}",
        None,  # tests/emulator/ops/test_math.py compares the emulator's result with fractions.
        _THREE,
        _EXACT,
        None,
        ("f16", "bf16", "f32"),  # The emulator has no f64 fma.
    ),
    Function("%r = math.fpowi %a, %b : {e}, i32", np.power, ((-4, 4), (-40, 40)), None, None),
    _truth("isfinite", np.isfinite),
    _truth("isinf", np.isinf),
    _truth("isnan", np.isnan),
    _truth("isnormal", None),
    _unary("log", np.log, 0, 10, 1, 1),
    _unary("log10", np.log10, 0, 10, 2, 1),
    _unary("log1p", np.log1p, -1, 10, 1, 1),
    _unary("log2", np.log2, 0, 10, 1, 1),
    Function("%r = arith.maxnumf %a, %b : {e}", np.fmax, _TWO, _EXACT, _EXACT),
    Function("%r = arith.minnumf %a, %b : {e}", np.fmin, _TWO, _EXACT, _EXACT),
    Function("%r = math.powf %a, %b : {e}", np.power, ((0, 10), (-20, 20)), Bound(4), Bound(2)),
    Function("%r = arith.remf %a, %b : {e}", np.fmod, ((-100, 100), (-10, 10)), _EXACT, _EXACT),
    _unary("round", _away, -100, 100, 0, 0),
    _unary("roundeven", np.rint, -100, 100, 0, 0),
    _unary("rsqrt", lambda x: 1 / np.sqrt(x), 0, 100, 2, 1),
    _unary("sin", np.sin, -100, 100, 2, 2),
    Function("%r, %o = math.sincos %a : {e}", np.sin, ((-100, 100),), Bound(2), Bound(2)),
    Function("%o, %r = math.sincos %a : {e}", np.cos, ((-100, 100),), Bound(2), Bound(2)),
    _unary("sinh", np.sinh, -100, 100, 3, 2),
    _unary("sqrt", lambda x: np.sqrt(x.astype(np.float64)), 0, 100, 0, 0),
    _unary("tan", np.tan, -100, 100, 4, 2),
    _unary("tanh", np.tanh, -10, 10, 2, 1),
    _unary("trunc", np.trunc, -100, 100, 0, 0),
    _fast("cos", np.cos, -100, 100, _CIRCULAR),
    _fast(
        "exp",
        np.exp,
        -110,
        95,
        Bound(lambda x: 2 + np.floor(np.abs(1.173 * x)), (), "2 + ⌊1.173 |x|⌋"),
    ),
    _fast(
        "log",
        np.log,
        0,
        10,
        Bound(3, ((_HALF_TO_TWO, 2**-21.41),), "3; 2^-21.41 absolute in [0.5, 2]"),
    ),
    _fast(
        "log10",
        np.log10,
        0,
        10,
        Bound(3, ((_HALF_TO_TWO, 2**-24),), "3; 2^-24 absolute in [0.5, 2]"),
    ),
    _fast(
        "log2", np.log2, 0, 10, Bound(2, ((_HALF_TO_TWO, 2**-22),), "2; 2^-22 absolute in [0.5, 2]")
    ),
    Function(
        "%r = math.powf %a, %b fastmath<afn> : {e}",
        lambda x, y: np.exp2(y * np.log2(x)),
        ((0, 10), (-20, 20)),
        Bound(_power_by_exp2, (), "as exp2(y log2 x) has it"),
        None,
        ("f16", "bf16", "f32"),
    ),
    _fast("sin", np.sin, -100, 100, _CIRCULAR),
    _fast("sqrt", np.sqrt, 0, 100, Bound(1)),
    _fast("tan", np.tan, -100, 100, Bound(_sine_by_cosine, (), "as sin x / cos x has it")),
    _fast("tanh", np.tanh, -10, 10, Bound(2.0**13, (), "2^13, which is 2^-11 relative")),
)
