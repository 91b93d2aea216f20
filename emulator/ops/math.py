"""math, and the intrinsics of the LLVM dialect that mean the same.

What IEEE 754 defines is exact. Approximations (`ex2.approx`, `tanh.approx` and their like) are computed
in f64 and rounded once, so they may differ from the chip's in the last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..floats import fused_multiply_add, rounded
from ..program import Op
from ..registry import computes
from ..types import dtype_of, signed


def _in_f64(function: Callable[..., np.ndarray]) -> Callable[[Op], Any]:
    """An op that is computed in f64 and rounded to its type."""

    def make(op: Op) -> Any:
        dtype = dtype_of(op.result_types[0], op.location)
        return lambda *numbers: rounded(function(*(n.astype(np.float64) for n in numbers)), dtype)

    return make


def _away(a: np.ndarray) -> np.ndarray:
    """To the nearest integer, ties away from zero."""
    whole = np.trunc(a)
    return np.copysign(whole + np.copysign(np.abs(a - whole) >= 0.5, a), a)


_erf = np.vectorize(math.erf, otypes=[np.float64])

for _names, _function in (
    # Exact: an f64 holds what these make of a number.
    (("math.ceil", "llvm.intr.ceil"), np.ceil),
    (("math.floor", "llvm.intr.floor"), np.floor),
    (("math.trunc", "llvm.intr.trunc"), np.trunc),
    (("math.round", "llvm.intr.round"), _away),
    (("math.roundeven", "llvm.intr.roundeven", "llvm.intr.rint", "llvm.intr.nearbyint"), np.rint),
    # Rounded once more, a root is still the nearest (Figueroa 1995).
    (("math.sqrt", "llvm.intr.sqrt"), np.sqrt),
    # Approximations.
    (("math.rsqrt",), lambda a: 1 / np.sqrt(a)),
    (("math.exp", "llvm.intr.exp"), np.exp),
    (("math.exp2", "llvm.intr.exp2"), np.exp2),
    (("math.expm1",), np.expm1),
    (("math.log", "llvm.intr.log"), np.log),
    (("math.log2", "llvm.intr.log2"), np.log2),
    (("math.log10", "llvm.intr.log10"), np.log10),
    (("math.log1p",), np.log1p),
    (("math.tanh", "llvm.intr.tanh"), np.tanh),
    (("math.sin", "llvm.intr.sin"), np.sin),
    (("math.cos", "llvm.intr.cos"), np.cos),
    (("math.erf",), _erf),
    (("math.powf", "llvm.intr.pow"), np.power),
):
    computes(*_names)(_in_f64(_function))


# These change a sign, of NaN too.
computes("math.absf", "llvm.intr.fabs")(lambda op: np.abs)
computes("math.copysign", "llvm.intr.copysign")(lambda op: np.copysign)


@computes("math.fma", "llvm.intr.fma", "vector.fma")
def _fused(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    if dtype.itemsize > 4:
        raise op.refuse("is of f64, which the emulator cannot multiply and add at once")
    return fused_multiply_add


@computes("math.absi")
def _absolute(op: Op) -> Any:
    return lambda a: np.abs(signed(a)).view(a.dtype)
