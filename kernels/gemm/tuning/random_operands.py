"""Random matrices on the current GPU, made with nothing but NumPy and the driver."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....runtime import Buffer
from ....runtime.arguments import DTYPES
from ..generator.problem import Problem

#: Random elements, repeated: an odd number, so that neighbouring rows differ. Power depends on the data,
#: and at its limit so does the time.
_RANDOM = 2**20 + 7


def random_operands(problem: Problem, m: int, n: int, k: int) -> tuple[Buffer, Buffer, Buffer]:
    """A, B and C of a product, as a problem says: normal numbers, or integers of the whole range."""
    from cuda.core import Device

    a = _random(problem.a, (m, k), "C" if problem.a_major == "k" else "F")
    b = _random(problem.b, (k, n), "C" if problem.b_major == "n" else "F")
    c = np.zeros((m, n), DTYPES[problem.c])
    device = Device()
    return Buffer(device, a), Buffer(device, b), Buffer(device, c)


def _random(element: str, shape: tuple[int, int], order: Any) -> np.ndarray:
    dtype, random = DTYPES[element], np.random.default_rng(0)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        some = random.integers(info.min, info.max, _RANDOM, dtype, endpoint=True)
    else:
        some = random.standard_normal(_RANDOM, np.float32).astype(dtype)
    return np.resize(some, shape[0] * shape[1]).reshape(shape, order=order)
