"""The results of a call: given arrays, or new ones, whose rows TMA can write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ....runtime import DeviceArray, device_array
from ....runtime.arguments import DTYPES
from ..generator.problem import ProblemError
from .batches import broadcast
from .libraries import assign, element_named, empty
from .operands import whole_columns


class Result(NamedTuple):
    """A result of a call.

    Attributes:
        array: the array that the kernel writes.
        view: its address, shape and strides, without padding.
        given: the array that the call gives; None for a new one.
    """

    array: Any
    view: DeviceArray
    given: Any

    def finished(self) -> Any:
        """Return the array for the caller."""
        n = self.view.matrix.shape[-1]
        cut: Any = self.array[..., :n] if is_ragged(self.view) else self.array
        if self.given is None or self.given is self.array:
            return cut
        assign(self.given, cut)
        return self.given


def results(
    like: Any,
    operands: tuple[DeviceArray, DeviceArray],
    stored: Sequence[Sequence[str]],
    out: Any,
    out_dtype: Any,
) -> list[Result]:
    """Return the results of a call.

    Args:
        like: an array of the library of new arrays.
        operands: A and B.
        stored: for each result, the element types that it can have, the default first.
        out: the array that the call gives, or a tuple of arrays; None for new ones.
        out_dtype: the element type of a new array, or a tuple of types; None for the default.

    Raises:
        ProblemError: for another number of arrays or types, or another type.
    """
    outs = _each("out", out, len(stored))
    dtypes = _each("out_dtype", out_dtype, len(stored))
    found: list[Result] = []
    for name, given, dtype, fitting in zip("CD", outs, dtypes, stored, strict=False):
        view = None if given is None else device_array(name, given)
        if view is not None and not is_ragged(view):
            found.append(Result(given, view, given))
        else:
            element = view.element if view else dtype
            found.append(Result(*_new(like, operands, fitting, element), given))
    return found


def is_ragged(out: DeviceArray) -> bool:
    """Return whether TMA would write beyond the ends of an array's rows."""
    shape, size = out.matrix.shape, out.matrix.item_bytes
    return len(shape) >= 2 and size > 0 and whole_columns(shape[-1], size) != shape[-1]


def check_matrices(a: DeviceArray, b: DeviceArray) -> None:
    """Check that A and B are matrices, or batches of them.

    Raises:
        ProblemError: if they are not.
    """
    for name, each in (("A", a), ("B", b)):
        if len(shape := each.matrix.shape) < 2:
            raise ProblemError(f"{name} has the shape {list(shape)}; expected a matrix, or several")


def _each(name: str, given: Any, count: int) -> tuple[Any, ...]:
    """Return what a call gives for each result; None for each if it gives nothing."""
    if given is None:
        return (None,) * count
    found = given if isinstance(given, tuple) else (given,)
    if len(found) != count:
        raise ProblemError(f"{name} is of {len(found)} results, but the epilogue returns {count}")
    return found


def _new(
    like: Any, operands: tuple[DeviceArray, DeviceArray], stored: Sequence[str], dtype: Any
) -> tuple[Any, DeviceArray]:
    """Return a new array for the result, with rows that TMA can write, and its view without padding."""
    a, b = operands
    check_matrices(a, b)
    element = stored[:1] if dtype is None else (element_named(dtype),)
    if not stored:
        raise ProblemError(f"there is no GEMM of {a.element}")
    if element[0] not in stored:
        raise ProblemError(
            f"a GEMM of {a.element} does not store {element[0]}; expected {' or '.join(stored)}"
        )
    (*a_batch, m, _), (*b_batch, _, n) = a.matrix.shape, b.matrix.shape
    rows = *broadcast(a_batch, b_batch), m
    array = empty(like, (*rows, whole_columns(n, DTYPES[element[0]].itemsize)), element[0])
    padded = device_array("C", array)
    return array, replace(padded, matrix=replace(padded.matrix, shape=(*rows, n)))
