"""Random matrices on the current GPU, made with NumPy and the driver only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....runtime import Buffer
from ....runtime.arguments import DTYPES
from ..generator.problem import Problem

#: The number of random elements, which are repeated; it is odd, so that adjacent rows differ. The
#: chip's power depends on the data, and at the power limit so does the time.
_RANDOM = 2**20 + 7


def random_operands(problem: Problem, m: int, n: int, k: int) -> tuple[Buffer, Buffer, Buffer]:
    """Return A, B and C of a problem: normally distributed numbers, or integers of the whole range."""
    from cuda.core import Device  # pyright: ignore[reportAttributeAccessIssue]

    a = _random(problem.a, (m, k), "C" if problem.a_major == "k" else "F")
    b = _random(problem.b, (k, n), "C" if problem.b_major == "n" else "F")
    c = np.zeros((m, n), DTYPES[problem.c])
    device = Device()
    return Buffer(device, a), Buffer(device, b), Buffer(device, c)


def _random(element: str, shape: tuple[int, int], order: Any) -> np.ndarray:
    dtype, random = DTYPES[element], np.random.default_rng(0)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        values = random.integers(info.min, info.max, _RANDOM, dtype, endpoint=True)
    else:
        values = random.standard_normal(_RANDOM, np.float32).astype(dtype)
    return np.resize(values, shape[0] * shape[1]).reshape(shape, order=order)
