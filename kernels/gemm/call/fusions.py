"""Epilogues in Python for arrays: which operands they have, and whether a function was traced before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, NamedTuple

from ....language.freeze import freeze
from ....language.reads import Reads
from ....layout.elements import UNIT_BYTES
from ....runtime import DeviceArray, LaunchError, Matrix, device_array
from ....runtime.arguments import DTYPES
from ....runtime.plans import BoundedCache
from ....runtime.readers import reader
from ..generator.fusion import EpilogueOperand, Fusion, trace_epilogue
from ..generator.problem import ProblemError

#: Element types of matrices that TMA loads, and that are converted to f32 exactly.
_LOADED = ("bf16", "f16", "f32")

#: How columns of B are shared out: alternating, gates first; or its first half for gates.
GATED = ("interleaved", "halves")

_FUSIONS: BoundedCache[tuple[Reads, Fusion]] = BoundedCache()


class FusedCall(NamedTuple):
    """The epilogue of a call.

    Attributes:
        fusion: the traced function.
        arguments: its arrays, in the order of its operands, and 0 for each number.
        reads: what the trace read besides its arguments.
        distance: bytes from B to B2 of a gated product; 0 for one product.
    """

    fusion: Fusion
    arguments: tuple[Matrix | int, ...]
    reads: Reads
    distance: int

    @property
    def addresses(self) -> list[int]:
        """The addresses of its arrays."""
        return [argument.pointer for argument in self.arguments if isinstance(argument, Matrix)]


def function_identity(function: Callable[..., Any]) -> Hashable:
    """Return what tells a function from others whose trace may differ, besides what it reads.

    A lambda that is made anew in each call is the same one if its closure holds the same values.

    Raises:
        ProblemError: for something else than a function of Python.
    """
    if not isinstance(function, FunctionType):
        raise ProblemError(f"the epilogue is {function!r}; expected a function of Python")
    cells = tuple(freeze(cell.cell_contents) for cell in function.__closure__ or ())
    return function.__code__, cells, freeze((function.__defaults__, function.__kwdefaults__))


def read_operands(operands: Mapping[str, Any]) -> tuple[Hashable, list[int], list[Any]]:
    """Return a signature of operands, the addresses of the arrays, and the numbers."""
    signature: list[Hashable] = []
    addresses: list[int] = []
    numbers: list[Any] = []
    for name, value in operands.items():
        if isinstance(value, int | float):
            numbers.append(value)
            signature.append((name, type(value)))
        else:
            address, read = reader(type(value))(value)
            addresses.append(address)
            # Whether TMA can load it depends on its alignment.
            signature.append((name, read, address % UNIT_BYTES))
    return tuple(signature), addresses, numbers


def fused_call(
    function: Callable[..., Any],
    operands: Mapping[str, Any],
    accumulator: str,
    extents: Sequence[int],
    device: int,
    distance: int = 0,
) -> FusedCall:
    """Return the epilogue of a call, traced if it is new.

    Args:
        function: the epilogue.
        operands: arrays that broadcast to C, and numbers, by the function's parameters.
        accumulator: the element type of the product.
        extents: those of C (..., M, N).
        device: the number of its GPU.
        distance: bytes from B to B2 of a gated product; 0 for one product.

    Raises:
        ProblemError: for an operand that does not broadcast to C or is on another GPU, or a function that
            does not fit.
        TraceError: for a mistake in the function.
    """
    described: list[EpilogueOperand] = []
    arguments: list[Matrix | int] = []
    for name, value in operands.items():
        if isinstance(value, int | float):
            described.append(EpilogueOperand(name, _number(value, accumulator), "number"))
            arguments.append(0)
            continue
        operand, matrix = _operand(name, _device_array(name, value), extents, device)
        described.append(operand)
        arguments.append(matrix)
    products = 2 if distance else 1
    key = function_identity(function), tuple(described), accumulator, products
    traced = _FUSIONS.get(key)
    if traced is None or not traced[0].hold():
        # What a trace reads is noted before it, so that a value that changes meanwhile is noticed.
        reads = Reads(function)
        traced = reads, trace_epilogue(function, described, accumulator, products)
        _FUSIONS.keep(key, traced)
    return FusedCall(traced[1], tuple(arguments), traced[0], distance)


def _number(value: float, accumulator: str) -> str:
    return "i32" if accumulator == "i32" and isinstance(value, int) else "f32"


def _device_array(name: str, value: Any) -> DeviceArray:
    try:
        return device_array(name, value)
    except LaunchError as error:
        raise ProblemError(f"an operand of the epilogue: {error}") from None


def _operand(
    name: str, array: DeviceArray, extents: Sequence[int], device: int
) -> tuple[EpilogueOperand, Matrix]:
    """Return an operand, and its array with the dimensions along which it is not broadcast."""
    shape, rank = array.matrix.shape, len(extents)
    if array.device != device:
        raise ProblemError(f"{name} is on GPU {array.device}, but A is on GPU {device}")
    if array.element not in DTYPES:
        raise ProblemError(f"{name} has elements of {array.element}; expected {', '.join(DTYPES)}")
    missing = rank - len(shape)
    padded = (1,) * missing + tuple(shape)
    if missing < 0 or any(x not in (1, y) for x, y in zip(padded, extents, strict=True)):
        *_, m, n = extents
        raise ProblemError(
            f"{name} has the shape {list(shape)}, which does not broadcast to C of "
            f"{'x'.join(map(str, extents))}; expected [{m}, {n}], [{n}] for an element a column, "
            f"[{m}, 1] for an element a row, or [1]"
            + (", or these for each of its matrices" if rank > 2 else "")
        )
    strides = (0,) * missing + tuple(array.matrix.strides)
    leading = [dim for dim in range(rank - 2) if extents[dim] != 1]
    batch = tuple(number for number, dim in enumerate(leading) if padded[dim] != 1 and strides[dim])
    of_matrix = [dim for dim in (rank - 2, rank - 1) if padded[dim] != 1]
    dims = [*(leading[number] for number in batch), *of_matrix]
    matrix = replace(
        array.matrix,
        shape=tuple(padded[dim] for dim in dims) or (1,),
        strides=tuple(strides[dim] for dim in dims) or (1,),
    )
    by_tma = len(of_matrix) == 2 and array.element in _LOADED and _has_aligned_rows(matrix)
    of_c = "".join("mn"[dim - rank + 2] for dim in of_matrix)
    return EpilogueOperand(name, array.element, of_c, by_tma, batch), matrix


def _has_aligned_rows(matrix: Matrix) -> bool:
    """Return whether TMA reads the rows of a matrix, or of several."""
    *steps, along = matrix.strides
    sizes = [step * matrix.item_bytes for step in steps]
    is_aligned = not any(size <= 0 or size % UNIT_BYTES for size in sizes)
    return along == 1 and is_aligned and not matrix.pointer % UNIT_BYTES


def gate_columns(b: Matrix, gated: str) -> tuple[Matrix, int]:
    """Return the columns of B for the gates, and the bytes from there to the others.

    Args:
        b: B (..., K, 2 * N).
        gated: how the columns are shared out, one of `GATED`.

    Raises:
        ProblemError: for something else, an odd number of columns, or columns that TMA cannot take apart.
    """
    if gated not in GATED:
        raise ProblemError(f"gated is {gated!r}; expected {' or '.join(map(repr, GATED))}")
    *batch, k, columns = b.shape
    *steps, down, along = b.strides
    if gated == "interleaved" and down != 1 and k > 1:
        raise ProblemError(
            f"B has the strides {list(b.strides)} and interleaved columns; expected contiguous columns, "
            "as those of a transposed weight, or gated='halves'"
        )
    if columns % 2:
        raise ProblemError(f"B has {columns} columns; expected an even number for gated={gated!r}")
    shape = (*batch, k, columns // 2)
    step, distance = (2 * along, along) if gated == "interleaved" else (along, columns // 2 * along)
    return replace(b, shape=shape, strides=(*steps, down, step)), distance * b.item_bytes
