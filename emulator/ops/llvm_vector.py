"""The LLVM dialect: elements of vectors. Vectors are built from poison, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convergent import ConvergentThreads
from ..errors import EmulationError, Stop, ViolationKind
from ..program import Op
from ..registry import executes
from ..types import dtype_of, shape_of, signed
from ..values import POISON, Registers
from .llvm import member, new_registers


def inserted(
    convergent: ConvergentThreads, vector: Any, element: Any, at: np.ndarray, blank: np.ndarray
) -> Any:
    """Return a vector with one element replaced.

    Args:
        convergent: the threads.
        vector: an array, registers with poison elements, or poison.
        element: a value, or poison.
        at: the position in the vector of each thread.
        blank: a row of zeros, used in place of a poison vector.

    Raises:
        EmulationError: if the poison elements differ between threads.
    """
    defined = np.ones(blank.shape[1], bool)
    if isinstance(vector, Registers):
        vector, defined = vector.data, vector.defined.copy()
    elif vector is POISON:
        vector, defined = blank, np.zeros(blank.shape[1], bool)
    if (at != at[0]).any() and not (defined.all() and element is not POISON):
        raise EmulationError(
            f"'{convergent.current.name}' inserts into a poison vector at positions on which threads "
            "disagree, which the emulator does not follow",
            convergent.current.location,
        )
    if element is POISON:
        defined[at[0]] = False
    else:
        element = convergent.checked(element)
        rows = max(len(vector), len(element), len(at))
        vector = np.array(np.broadcast_to(vector, (rows, *vector.shape[1:])))
        vector[np.arange(rows), at] = element
        defined[at[0]] = True
    if defined.all():
        return vector
    return new_registers(convergent, convergent.broadcast(vector), defined)


def positions(op: Op, convergent: ConvergentThreads, position: Any, length: int) -> np.ndarray:
    """Return the position in the vector of each thread.

    Raises:
        Stop: if a position is outside of the vector; this is reported.
    """
    at = signed(convergent.checked(position)).astype(np.int64)
    if (at < 0).any() or (at >= length).any():
        wrong = at[(at < 0) | (at >= length)][0]
        convergent.cta.report_at(
            convergent,
            ViolationKind.POISON,
            f"takes element {wrong} of a vector of {length} elements",
        )
        raise Stop
    return at


@executes("llvm.insertelement")
def _insert(op: Op) -> Any:
    (length,) = shape_of(op.result_types[0])
    blank = np.zeros((1, length), dtype_of(op.result_types[0], op.location))

    def step(convergent: ConvergentThreads, vector: Any, element: Any, position: Any) -> Any:
        at = positions(op, convergent, position, length)
        return inserted(convergent, vector, element, at, blank)

    return step


@executes("llvm.extractelement")
def _extract(op: Op) -> Any:
    (length,) = shape_of(op.operand_types[0])

    def step(convergent: ConvergentThreads, vector: Any, position: Any) -> Any:
        at = positions(op, convergent, position, length)
        if isinstance(vector, Registers) and (at == at[0]).all():
            return member(vector, int(at[0]))
        vector = convergent.checked(vector)
        rows = max(len(vector), len(at))
        vector, at = np.broadcast_to(vector, (rows, length)), np.broadcast_to(at, rows)
        return vector[np.arange(rows), at]

    return step


@executes("llvm.shufflevector")
def _shuffle(op: Op) -> Any:
    mask = op.numbers("mask")
    (length,) = shape_of(op.operand_types[0])
    taken = [m for m in mask if m >= 0]

    def step(convergent: ConvergentThreads, first: Any, second: Any) -> Any:
        # A poison operand is allowed if none of its elements is taken.
        sources = [
            convergent.checked(v) if any(m // length == side for m in taken) else None
            for side, v in enumerate((first, second))
        ]
        known = [source for source in sources if source is not None]
        if not known:
            return POISON
        blank = np.zeros((1, length), known[0].dtype)
        both = [blank if source is None else source for source in sources]
        rows = max(len(source) for source in both)
        pool = np.concatenate([np.broadcast_to(s, (rows, length)) for s in both], axis=1)
        found = pool[:, np.maximum(mask, 0)]
        if len(taken) == len(mask):
            return found
        return new_registers(convergent, convergent.broadcast(found), np.array(mask) >= 0)

    return step
