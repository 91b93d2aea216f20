"""The LLVM dialect: elements of vectors. Vectors are built from poison, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..errors import EmulationError, Stop, ViolationKind
from ..kernel import Op
from ..registry import executes
from ..types import as_signed, dtype_of, shape_of
from ..values import POISON, RegisterStruct
from .llvm import member, new_registers


def insert_element(
    convergent: ConvergentThreads,
    vector: Any,
    element: Any,
    position: np.ndarray,
    blank: np.ndarray,
) -> Any:
    """Return a vector with one element replaced.

    Args:
        convergent: the threads.
        vector: an array, registers with poison elements, or poison.
        element: a value, or poison.
        position: the position in the vector of each thread.
        blank: a row of zeros, used in place of a poison vector.

    Raises:
        EmulationError: if the poison elements differ between threads.
    """
    defined = np.ones(blank.shape[1], bool)
    if isinstance(vector, RegisterStruct):
        vector, defined = vector.data, vector.defined.copy()
    elif vector is POISON:
        vector, defined = blank, np.zeros(blank.shape[1], bool)
    if (position != position[0]).any() and not (defined.all() and element is not POISON):
        raise EmulationError(
            f"'{convergent.current.name}' inserts into a poison vector at positions on which threads "
            "disagree, which the emulator does not follow",
            convergent.current.location,
        )
    if element is POISON:
        defined[position[0]] = False
    else:
        element = convergent.check_value(element)
        rows = max(len(vector), len(element), len(position))
        vector = np.array(np.broadcast_to(vector, (rows, *vector.shape[1:])))
        vector[np.arange(rows), position] = element
        defined[position[0]] = True
    if defined.all():
        return vector
    return new_registers(convergent, convergent.broadcast(vector), defined)


def element_positions(
    op: Op, convergent: ConvergentThreads, position: Any, length: int
) -> np.ndarray:
    """Return the position in the vector of each thread.

    Raises:
        Stop: if a position is outside of the vector; this is reported.
    """
    index = as_signed(convergent.check_value(position)).astype(np.int64)
    if (index < 0).any() or (index >= length).any():
        wrong = index[(index < 0) | (index >= length)][0]
        convergent.cta.report_at(
            convergent,
            ViolationKind.POISON,
            f"takes element {wrong} of a vector of {length} elements",
        )
        raise Stop
    return index


@executes("llvm.insertelement")
def _insert(op: Op) -> Any:
    (length,) = shape_of(op.result_types[0])
    blank = np.zeros((1, length), dtype_of(op.result_types[0], op.location))

    def step(convergent: ConvergentThreads, vector: Any, element: Any, position: Any) -> Any:
        index = element_positions(op, convergent, position, length)
        return insert_element(convergent, vector, element, index, blank)

    return step


@executes("llvm.extractelement")
def _extract(op: Op) -> Any:
    (length,) = shape_of(op.operand_types[0])

    def step(convergent: ConvergentThreads, vector: Any, position: Any) -> Any:
        index = element_positions(op, convergent, position, length)
        if isinstance(vector, RegisterStruct) and (index == index[0]).all():
            return member(vector, int(index[0]))
        vector = convergent.check_value(vector)
        rows = max(len(vector), len(index))
        vector, index = np.broadcast_to(vector, (rows, length)), np.broadcast_to(index, rows)
        return vector[np.arange(rows), index]

    return step


@executes("llvm.shufflevector")
def _shuffle(op: Op) -> Any:
    mask = op.numbers("mask")
    (length,) = shape_of(op.operand_types[0])
    selected = [m for m in mask if m >= 0]

    def step(convergent: ConvergentThreads, first: Any, second: Any) -> Any:
        # A poison operand is allowed if none of its elements is taken.
        sources = [
            convergent.check_value(v) if any(m // length == side for m in selected) else None
            for side, v in enumerate((first, second))
        ]
        checked = [source for source in sources if source is not None]
        if not checked:
            return POISON
        blank = np.zeros((1, length), checked[0].dtype)
        vectors = [blank if source is None else source for source in sources]
        rows = max(len(source) for source in vectors)
        pool = np.concatenate([np.broadcast_to(s, (rows, length)) for s in vectors], axis=1)
        elements = pool[:, np.maximum(mask, 0)]
        if len(selected) == len(mask):
            return elements
        return new_registers(convergent, convergent.broadcast(elements), np.array(mask) >= 0)

    return step
