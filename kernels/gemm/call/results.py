"""The results of a call: given arrays, or new ones, which TMA can write.

A given array that TMA cannot write is written by a copy, from a new array with padded rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ....runtime import DeviceArray, device_array
from ....runtime.arguments import DTYPES
from ...libraries import element_named, empty, whole_columns
from ..generator.problem import Problem, ProblemError
from ..generator.problem import results as stored_types
from .batches import broadcast
from .copies import copy_matrices
from .padding import is_aligned


class ResultArray(NamedTuple):
    """A result of a call.

    Attributes:
        array: the array that the kernel writes.
        view: its address, shape and strides, without padding.
        out: the array that the call gives; None for a new one.
        target: the address, shape and strides of the given array; None if the kernel writes it.
    """

    array: Any
    view: DeviceArray
    out: Any
    target: DeviceArray | None = None

    def finish(self, stream: int) -> Any:
        """Return the array for the caller; it is copied to the given one, if that is another."""
        if self.target is not None:
            copy_matrices([(self.view.matrix, self.target.matrix)], self.target.device, stream)
        return without_padding(self.array, self.view) if self.out is None else self.out


def without_padding(array: Any, view: DeviceArray) -> Any:
    """Return a new array for the caller: the view of it without the padding of its rows."""
    cut: Any = array[..., : view.matrix.shape[-1]] if is_ragged(view) else array
    return cut


def result_arrays(
    like: Any,
    operands: tuple[DeviceArray, DeviceArray],
    stored: Sequence[Sequence[str]],
    out: Any,
    out_dtype: Any,
) -> list[ResultArray]:
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
    outs = _as_tuple("out", out, len(stored))
    dtypes = _as_tuple("out_dtype", out_dtype, len(stored))
    named = list(zip("CD", outs, stored, strict=False))
    views = [out if out is None else device_array(name, out) for name, out, _ in named]
    writable = [view for view in views if view is not None and _is_writable(view)]
    if len(writable) == len(views):
        return [ResultArray(out, view, out) for out, view in zip(outs, writable, strict=True)]
    elements = [
        _element(operands[0], fitting, view.element if view else dtype)
        for (_, _, fitting), view, dtype in zip(named, views, dtypes, strict=True)
    ]
    # Results have equal strides, in elements; so their rows have equal padding.
    size = min(DTYPES[element].itemsize for element in elements)
    arrays: list[ResultArray] = []
    for (name, out, _), view, element in zip(named, views, elements, strict=True):
        purpose = "the result" if out is None else f"a copy of {name}"
        array, padded_view = _new(like, operands, element, size, purpose)
        if view is not None:
            _check_target(name, view, padded_view)
        arrays.append(ResultArray(array, padded_view, out, view))
    return arrays


def _is_writable(out: DeviceArray) -> bool:
    """Return whether TMA writes an array as it is; so are arrays that are no results."""
    matrix = out.matrix
    if len(matrix.shape) < 2 or 0 in matrix.shape:
        return True
    is_rows = matrix.strides[-1] == 1 or matrix.shape[-1] == 1
    return is_rows and not is_ragged(out) and is_aligned(matrix)


def _check_target(name: str, out: DeviceArray, expected: DeviceArray) -> None:
    """Check that a given array can be written by a copy.

    Raises:
        ProblemError: if its shape or GPU is another, or elements share memory.
    """
    matrix, shape = out.matrix, expected.matrix.shape
    if matrix.shape != shape:
        actual, fitting = ("x".join(map(str, extents)) for extents in (matrix.shape, shape))
        raise ProblemError(f"{name} is {actual}; expected {fitting}")
    if out.device != expected.device:
        raise ProblemError(
            f"{name} is on GPU {out.device}, but A is on GPU {expected.device}; expected the same GPU"
        )
    extent = 1
    dims = zip(matrix.strides, matrix.shape, strict=True)
    for stride, count in sorted(dim for dim in dims if dim[1] > 1):
        if stride < extent:
            raise ProblemError(
                f"{name} of {list(shape)} has the strides {list(matrix.strides)}; expected strides above "
                "0, and elements that share no memory"
            )
        extent = stride * (count - 1) + extent


def is_ragged(out: DeviceArray) -> bool:
    """Return whether TMA would write beyond the ends of an array's rows."""
    shape, size = out.matrix.shape, out.matrix.item_bytes
    return len(shape) >= 2 and size > 0 and whole_columns(shape[-1], size) != shape[-1]


def check_matrices(a: DeviceArray, b: DeviceArray) -> None:
    """Check that A and B are matrices, or batches of them.

    Raises:
        ProblemError: if they are not.
    """
    for name, array in (("A", a), ("B", b)):
        if len(shape := array.matrix.shape) < 2:
            raise ProblemError(f"{name} has the shape {list(shape)}; expected a matrix, or several")


def result_element(a: str, b: str, dtype: Any) -> str:
    """Return the element type of a result, where a compiler asks before there are arrays.

    Args:
        a, b: MLIR's names of the element types of A and B.
        dtype: the wanted type; None for the default.

    Raises:
        ProblemError: if there is no GEMM of these types.
    """
    default = next(iter(stored_types(a)), a)
    element = default if dtype is None else element_named(dtype)
    Problem(a, b, element, b_major="k")
    return element


def _as_tuple(name: str, argument: Any, count: int) -> tuple[Any, ...]:
    """Return what a call gives for each result; None for each if it gives nothing."""
    if argument is None:
        return (None,) * count
    arguments = argument if isinstance(argument, tuple) else (argument,)
    if len(arguments) != count:
        raise ProblemError(
            f"{name} is of {len(arguments)} results, but the epilogue returns {count}"
        )
    return arguments


def _element(a: DeviceArray, stored: Sequence[str], dtype: Any) -> str:
    """Return the element type of a result.

    Raises:
        ProblemError: if it cannot be stored.
    """
    if not stored:
        raise ProblemError(f"there is no GEMM of {a.element}")
    element = stored[0] if dtype is None else element_named(dtype)
    if element not in stored:
        raise ProblemError(
            f"a GEMM of {a.element} does not store {element}; expected {' or '.join(stored)}"
        )
    return element


def _new(
    like: Any, operands: tuple[DeviceArray, DeviceArray], element: str, size: int, purpose: str
) -> tuple[Any, DeviceArray]:
    """Return a new array for a result, with rows that TMA can write, and its view without padding.

    Args:
        like, operands: as for `results`.
        element: the element type.
        size: bytes of the smallest element of the results.
        purpose: what it is, for messages.
    """
    a, b = operands
    check_matrices(a, b)
    (*a_batch, m, _), (*b_batch, _, n) = a.matrix.shape, b.matrix.shape
    rows = *broadcast(a_batch, b_batch), m
    array = empty(like, (*rows, whole_columns(n, size)), element, purpose)
    padded = device_array("C", array)
    return array, replace(padded, matrix=replace(padded.matrix, shape=(*rows, n)))
