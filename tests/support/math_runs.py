"""A math op as a kernel, operands for it, and the error of its results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from math_cases import Array, Function

import mlir_smem
from mlir_smem.emulator.floats import round_to
from mlir_smem.runtime import run_on_cpu, run_on_gpu

#: Threads of a CTA; a kernel takes a multiple of that many rows. The emulator takes as long for more.
THREADS = 512

DTYPES = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i32": np.dtype(np.int32),
}

#: Bits of the significand with its leading one, and the exponents of the smallest and largest numbers.
_FORMATS = {
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}

#: The error of long double and of a second rounding in f64, on top of half a ULP.
_SLACK = 2.0**-9


def operand_types(function: Function, element: str) -> list[str]:
    """Return the element type of each operand."""
    types = [element] * len(function.intervals)
    return [element, "i32"] if "fpowi" in function.line else types


def kernel(function: Function, element: str, count: int) -> str:
    """Return a kernel `k` of R[i] = f(A[i], B[i], C[i])."""
    operands = list(zip("ABC", operand_types(function, element), strict=False))
    types = {x: f"memref<{count}x{t}>" for x, t in [*operands, ("R", element)]}
    return "\n".join(
        [
            "gpu.module @m {",
            "gpu.func @k(",
            ",\n".join(f'  %{x}: {t} {{smem.name = "{x}"}}' for x, t in types.items()),
            f") kernel attributes {{known_block_size = array<i32: {THREADS}, 1, 1>}} {{",
            "%block = gpu.block_id x",
            "%thread = gpu.thread_id x",
            f"%threads = arith.constant {THREADS} : index",
            "%before = arith.muli %block, %threads : index",
            "%i = arith.addi %before, %thread : index",
            *(f"%{x.lower()} = memref.load %{x}[%i] : {types[x]}" for x, _ in operands),
            function.line.format(e=element),
            f"memref.store %r, %R[%i] : {types['R']}",
            "gpu.return",
            "}",
            "}",
        ]
    )


def on_emulator(function: Function, element: str, rows: list[Array]) -> Array:
    """Return the results of the emulator."""
    compiled = mlir_smem.compile(kernel(function, element, len(rows[0])), emit="nvvm")
    return _run(run_on_cpu, compiled, rows)


def on_chip(function: Function, element: str, rows: list[Array]) -> Array:
    """Return the results of a GPU."""
    compiled = mlir_smem.compile(kernel(function, element, len(rows[0])))
    return _run(run_on_gpu, compiled, rows)


def _run(run: Callable[..., dict[str, Array]], compiled: Any, rows: list[Array]) -> Array:
    arrays = dict(zip("ABC", rows, strict=False))
    return run(compiled, "k", arrays, ["R"], (len(rows[0]) // THREADS,))["R"]


def operands(function: Function, element: str, count: int, seed: int = 0) -> list[Array]:
    """Return rows of operands: special numbers in all combinations, then equal numbers of random bit
    patterns (one from each of equal ranges of patterns) and of numbers from the function's intervals. A
    single 16-bit operand takes all bit patterns.

    Args:
        function, element: the op.
        count: about the number of rows; rounded up to a multiple of THREADS.
        seed: the seed of the random numbers.
    """
    random = np.random.default_rng(seed)
    types = operand_types(function, element)
    if len(types) == 1 and DTYPES[element].itemsize == 2:
        return [np.arange(1 << 16, dtype=np.uint16).view(DTYPES[element])]
    specials = [_specials(t) for t in types]
    if len(types) > 2:
        specials = [s[:: len(s) // 12 or 1] for s in specials]
    grid = [a.reshape(-1) for a in np.meshgrid(*specials)]
    half = max(0, count - len(grid[0])) // 2
    columns = []
    for special, (low, high), type_ in zip(grid, function.intervals, types, strict=True):
        numbers = random.uniform(low, high, half).astype(DTYPES[type_])
        columns.append(np.concatenate([special, _patterns(random, half, type_), numbers]))
    rows = -(-len(columns[0]) // THREADS) * THREADS
    return [np.resize(column, rows) for column in columns]


def _patterns(random: np.random.Generator, count: int, element: str) -> Array:
    """Return random bit patterns, one from each of `count` equal ranges, in random order; patterns
    repeat if there are fewer than `count`."""
    bits = DTYPES[element].itemsize * 8
    if not count:
        return np.zeros(0, DTYPES[element])
    width = max(1, (1 << bits) // count)
    patterns = np.arange(count, dtype=np.uint64) * np.uint64(width % (1 << 64))
    patterns += random.integers(0, width, count, dtype=np.uint64)
    return random.permutation(patterns.astype(f"u{bits // 8}").view(DTYPES[element]))


def _specials(element: str) -> Array:
    """Return numbers that are edge cases of a type."""
    if element == "i32":
        return np.array(
            [0, 1, -1, 2, -2, 3, 31, -31, 127, 128, -149, 2**31 - 1, -(2**31)], np.int32
        )
    precision, smallest, largest = _FORMATS[element]
    step = 2.0 ** (1 - precision)
    tiny, most = 2.0**smallest, (2 - step) * 2.0**largest
    sizes = [
        0.0,
        tiny * step,
        tiny * (1 - step),
        tiny,
        0.25,
        0.5,
        1 - step / 2,
        1.0,
        1 + step,
        1.5,
        2.0,
        2.5,
    ]
    sizes += [
        3.0,
        np.pi / 4,
        np.pi / 2,
        np.pi,
        100.0,
        2.0 ** (precision - 1),
        2.0**precision,
        most,
        np.inf,
    ]
    with np.errstate(over="ignore"):
        return np.array([*sizes, *(-x for x in sizes), np.nan]).astype(DTYPES[element])


@dataclass(frozen=True)
class Distance:
    """The error of results, row by row.

    Attributes:
        steps: representable numbers between the result and the correctly rounded number; infinite if only
            one of them is NaN.
        ulps: the difference in ULPs of the exact number.
        difference: the absolute difference.
    """

    steps: Array
    ulps: Array
    difference: Array


def steps(a: Array, b: Array) -> Array:
    """Return the representable numbers from one to the other; 0 for two NaN, infinite if only one is
    NaN."""
    unsigned = np.dtype(f"u{a.itemsize}")
    bits = [x.view(unsigned).astype(np.uint64) for x in (a, b)]
    top = np.uint64(1 << a.itemsize * 8 - 1)
    (m, n), (p, q) = ([x & ~top for x in bits], [x & top for x in bits])
    apart = np.where(p == q, np.maximum(m, n) - np.minimum(m, n), m + n).astype(np.float64)
    return np.where(
        np.isnan(a) & np.isnan(b), 0, np.where(np.isnan(a) ^ np.isnan(b), np.inf, apart)
    )


def distance(computed: Array, exact: Array, element: str) -> Distance:
    """Return the error of results of an element type against exact numbers in long double."""
    precision, smallest, largest = _FORMATS[element]
    # NumPy rounds twice when it converts a long double to 16 bits.
    once = exact.astype(np.float64) if computed.itemsize == 2 else exact
    nearest = round_to(once, DTYPES[element])
    # Larger numbers than the largest finite one count as the next power of two.
    beyond = np.ldexp(np.longdouble(1), largest + 1)
    ends = [np.clip(x.astype(np.longdouble), -beyond, beyond) for x in (computed, exact)]
    difference = np.abs(ends[0] - ends[1])
    exponent = np.where(ends[1] == 0, smallest, np.maximum(np.frexp(ends[1])[1] - 1, smallest))
    ulps = np.ldexp(difference, precision - 1 - np.minimum(exponent, largest))
    either = np.isnan(computed) | np.isnan(exact)
    wrong = np.where(np.isnan(computed) & np.isnan(exact), 0.0, np.inf)
    return Distance(
        steps(computed, nearest),
        np.where(either, wrong, ulps).astype(np.float64),
        np.where(either, wrong, difference).astype(np.float64),
    )


def outside(function: Function, element: str, rows: list[Array], far: Distance) -> Array:
    """Return a mask of the results that exceed the function's bound. 16-bit types are computed in f32 and
    rounded once more, which adds half a ULP."""
    bound = function.error_bound(element)
    if bound is None:
        return np.zeros(len(rows[0]), bool)
    scale = min(1.0, 2.0 ** (_FORMATS[element][0] - 24))
    ulps = bound.allowed_ulps(*(x.astype(np.longdouble) for x in rows)) * scale
    if scale < 1:
        ulps = ulps + scale / 2
    near = (far.steps <= np.floor(ulps)) | (far.ulps <= ulps + 0.5 + _SLACK)
    difference = bound.allowed_difference(rows[0].astype(np.float64))
    with np.errstate(invalid="ignore"):
        ulp = np.where(far.ulps > 0, far.difference / far.ulps, 0)
        near |= (difference > 0) & (far.difference <= difference + (ulp if scale < 1 else 0))
    return ~near


def bounded_by_ulps(function: Function, element: str, rows: list[Array]) -> Array:
    """Return a mask of the results that are bounded by ULPs, not by an absolute error or not at all; all
    results of a function without a bound."""
    bound = function.error_bound(element)
    if bound is None:
        return np.ones(len(rows[0]), bool)
    ulps = bound.allowed_ulps(*(x.astype(np.longdouble) for x in rows))
    return np.isfinite(ulps) & (bound.allowed_difference(rows[0].astype(np.float64)) == 0)
