"""Element-wise functions of accumulators, whose results are small integers again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .program import BOUND


@dataclass(frozen=True)
class MapFunction:
    """An element-wise function.

    Attributes:
        arity: how many accumulators it takes.
        lines: the ops that compute %z from %x and %y.
        compute: the same in NumPy.
    """

    arity: int
    lines: tuple[str, ...]
    compute: Callable[..., np.ndarray]


_LEAST, _MOST = "%f0", f"%f{2 * BOUND}"

_CLAMPED = (
    f"%w = arith.maximumf %u, {_LEAST} : f32",
    f"%z = arith.minimumf %w, {_MOST} : f32",
)


def _clamp(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -BOUND, BOUND)


FUNCTIONS = {
    "negate": MapFunction(1, ("%z = arith.negf %x : f32",), np.negative),
    "clamp": MapFunction(1, (_CLAMPED[0].replace("%u", "%x"), _CLAMPED[1]), _clamp),
    "larger": MapFunction(2, ("%z = arith.maximumf %x, %y : f32",), np.maximum),
    "sum": MapFunction(2, ("%u = arith.addf %x, %y : f32", *_CLAMPED), lambda x, y: _clamp(x + y)),
    "difference": MapFunction(
        2, ("%u = arith.subf %x, %y : f32", *_CLAMPED), lambda x, y: _clamp(x - y)
    ),
}
