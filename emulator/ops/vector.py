"""vector: values of several elements a thread."""

from typing import Any

import numpy as np

from ..program import Op
from ..registry import computes
from ..types import shape_of


@computes("vector.from_elements")
def _from_elements(op: Op) -> Any:
    shape = shape_of(op.result_types[0])

    def step(*elements: np.ndarray) -> np.ndarray:
        stacked = np.stack(np.broadcast_arrays(*elements), axis=-1)
        return stacked.reshape(len(stacked), *shape)

    return step


@computes("vector.broadcast", "vector.splat")
def _broadcast(op: Op) -> Any:
    shape = shape_of(op.result_types[0])

    def step(a: np.ndarray) -> np.ndarray:
        missing = len(shape) - (a.ndim - 1)
        return np.broadcast_to(a.reshape(len(a), *(1,) * missing, *a.shape[1:]), (len(a), *shape))

    return step


@computes("vector.extract", "vector.insert")
def _element(op: Op) -> Any:
    position = tuple(op.numbers("static_position"))
    inserts = op.name == "vector.insert"
    if any(p < 0 for p in position) or len(op.operand_types) != 1 + inserts:
        raise op.refuse("takes an element whose position is known at run time only")

    def extract(a: np.ndarray) -> np.ndarray:
        return a[(slice(None), *position)]

    def insert(element: np.ndarray, a: np.ndarray) -> np.ndarray:
        rows = max(len(element), len(a))
        found = np.array(np.broadcast_to(a, (rows, *a.shape[1:])))
        found[(slice(None), *position)] = element
        return found

    return insert if inserts else extract
