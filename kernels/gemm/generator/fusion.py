"""An epilogue in Python: a function of the product's elements and of further operands."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .... import language as sl
from ....dialect import new_context
from ....dialect.types import tensor_of
from ....language.options import KernelOptions
from ....language.traced_function import TracedFunction
from ...errors import ProblemError

#: Parameters of an epilogue that are the element's place in C.
_POSITIONS = ("row", "col")

#: Arguments of the kernel that are no operands of the epilogue.
_RESERVED = ("A", "B", "C", "B2", "D", "W", "S")

#: Results of an epilogue: C, and one more.
MAX_RESULTS = 2

#: Element types as which results of an epilogue can be stored, the default first, by their own type.
_STORED_AS = {
    "f32": ("bf16", "f32", "f16", "f8E4M3FN", "f8E5M2"),
    "f16": ("f16", "f32", "f8E4M3FN", "f8E5M2"),
    "i32": ("i32", "i8", "ui8"),
}

#: By how an operand is broadcast to C: its dimensions in the kernel's signature. "number" is passed by
#: value, the others are arrays.
_SHAPES = {"mn": ("M", "N"), "m": ("M",), "n": ("N",), "": (1,), "number": ()}


class EpilogueOperand(NamedTuple):
    """A further operand of an epilogue, which is broadcast to C.

    Attributes:
        name: the parameter of the function.
        element: MLIR's name of its element type.
        shape: "mn" for a matrix, "m" for an element a row, "n" for an element a column, "" for one
            element, "number" for a number.
        by_tma: whether TMA can load it: a matrix of floats with contiguous rows, whose address and other
            strides are multiples of 16 bytes.
        batch: the leading dimensions of C along which it varies, in order; they come first in the array.
    """

    name: str
    element: str
    shape: str
    by_tma: bool = False
    batch: tuple[int, ...] = ()

    def signature(self, exchanged: bool) -> str:
        """Return its part of the kernel's signature."""
        extents = _SHAPES[self.shape]
        if exchanged:
            extents = tuple({"M": "N", "N": "M"}.get(str(extent), extent) for extent in extents)
        if self.shape == "" and self.batch:
            extents = ()
        leading = [f"L{dim}" for dim in self.batch]
        strides = ["?"] * (len(leading) + len(self.shape)) if self.shape != "number" else []
        if self.by_tma:
            strides[-1] = "1"
        layout = f":({','.join(strides)})" if strides else ""
        return f"({','.join(map(str, (*leading, *extents)))}){layout}"


@dataclass(frozen=True)
class Fusion:
    """A function that is applied to each element of A * B, or of two products, before it is stored.

    Two are equal if they are traced to the same IR.

    Attributes:
        operands: its further operands.
        ir: the function as IR, on a fragment of 64x64.
        stored: for each result, the element types that it can be stored as, the default first.
        products: how many products it takes.
        accumulator: their element type, "f32" or "i32".
        function: the function: it takes a fragment of each product, and by name the operands' elements
            and the positions `row` and `col`; it returns a fragment of the same shape, or two.
    """

    operands: tuple[EpilogueOperand, ...]
    ir: str
    stored: tuple[tuple[str, ...], ...]
    products: int
    accumulator: str
    function: Callable[..., Any] = field(compare=False, repr=False)

    @property
    def matrices(self) -> tuple[EpilogueOperand, ...]:
        """The operands that TMA can load."""
        return tuple(operand for operand in self.operands if operand.by_tma)

    def described(self) -> list[Any]:
        """Return all that a kernel depends on, as JSON data."""
        batches = [operand.batch for operand in self.operands]
        return [
            self.ir,
            [operand.name for operand in self.matrices],
            *(batches if any(batches) else ()),
        ]

    def read(
        self,
        arrays: Mapping[str, Any],
        shape: tuple[int, int],
        place: tuple[sl.Index | int, sl.Index | int],
        extents: Sequence[sl.Index | int],
        exchanged: bool,
        loaded: Collection[str] = (),
        batch: Sequence[sl.Index | int] = (),
    ) -> dict[str, Any]:
        """Return the arguments of the function besides products, by name: positions, operands' elements.

        Their loads begin here.

        Args:
            arrays: the operands, by name.
            shape: of the fragments.
            place: the row and column of the fragment's first element in the kernel's C.
            extents: rows and columns of that.
            exchanged: whether the kernel's C is C^T.
            loaded: the names of operands that are not read.
            batch: the matrix of C: an index for each leading dimension.
        """
        positions = [first + sl.iota(dim) for dim, first in enumerate(place)]
        # Positions beyond C read its last elements, for results that are not stored.
        read = [
            sl.minimum(position, extent - 1)
            for position, extent in zip(positions, extents, strict=True)
        ]
        if exchanged:
            positions, read = positions[::-1], read[::-1]
        named: dict[str, Any] = dict(zip(_POSITIONS, positions, strict=True))
        for operand in self.operands:
            if operand.name not in loaded:
                element = _element(arrays[operand.name], operand, batch, *read)
                named[operand.name] = self._read(element, operand, shape, exchanged)
        return named

    def _read(
        self, element: Any, operand: EpilogueOperand, shape: tuple[int, int], exchanged: bool
    ) -> Any:
        """Return the element in registers: a slice of a vector's elements, or a fragment of a matrix's.

        Beside products of f32, integers are in registers as f32 of the same bits: inputs of an expression
        are of one type.
        """
        if operand.shape not in ("mn", "m", "n") or element.dtype not in (sl.f32, sl.i32):
            return element
        as_bits = element.dtype == sl.i32 and self.accumulator == "f32"
        registers = element.bitcast(sl.f32) if as_bits else element
        if operand.shape == "mn":
            registers = sl.full(shape, registers, registers.dtype)
        else:
            dim = (operand.shape == "n") != exchanged  # along which it varies
            registers = sl.full((shape[dim],), registers, registers.dtype, axis=1 - dim)
        return registers.bitcast(sl.i32) if as_bits else registers

    def apply(self, products: Sequence[sl.Fragment], named: Mapping[str, Any]) -> list[sl.Fragment]:
        """Return the results of the function of fragments of the products.

        Args:
            products: the fragments, one or two.
            named: positions and operands' elements, by name.
        """
        wanted = list(inspect.signature(self.function).parameters)[self.products :]
        returned = self.function(*products, **{name: named[name] for name in wanted})
        outputs = returned if isinstance(returned, tuple) else (returned,)
        if not 1 <= len(outputs) <= MAX_RESULTS:
            raise ProblemError(
                f"the epilogue returns {len(outputs)} results; expected 1 or {MAX_RESULTS}"
            )
        return [_check_output(output, products[0]) for output in outputs]


def trace_epilogue(
    function: Callable[..., Any],
    operands: Sequence[EpilogueOperand],
    accumulator: str,
    products: int = 1,
) -> Fusion:
    """Return an epilogue, traced.

    Args:
        function: see `Fusion`.
        operands: its further operands.
        accumulator: the element type of the product, "f32" or "i32".
        products: how many products the function takes, 1 or 2.

    Raises:
        ProblemError: if the function's parameters are not those operands, or it returns something else
            than a fragment.
        TraceError: for a mistake in the function, at its line.
    """
    _check_parameters(function, operands, products)
    fusion = Fusion(tuple(operands), "", (), products, accumulator, function)
    stored: list[tuple[str, ...]] = []

    def epilogue(*arrays: Any) -> None:
        operand_arrays = arrays[products:]
        named = {
            operand.name: array for operand, array in zip(operands, operand_arrays, strict=True)
        }
        loaded = [sl.load(x[0:64, 0:64]) for x in arrays[:products]]
        batch = (0,) * (1 + max((dim for operand in operands for dim in operand.batch), default=0))
        read = fusion.read(named, (64, 64), (0, 0), arrays[0].shape, exchanged=False, batch=batch)
        for result in fusion.apply(loaded, read):
            # The conversion of an expression's result is left to the store.
            element = str(tensor_of(result.value.type).element_type)
            stored.append(_STORED_AS[element])

    of_products = [f"product{number}" for number in range(products)]
    names = [*of_products, *(operand.name for operand in operands)]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    epilogue.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    signature = ", ".join(
        (*["(M,N)"] * products, *(operand.signature(False) for operand in operands))
    )
    kernel = TracedFunction(epilogue, signature, KernelOptions(1))
    with new_context():
        ir = str(
            kernel.trace(*[accumulator] * products, *(operand.element for operand in operands))
        )
    return Fusion(tuple(operands), ir, tuple(stored), products, accumulator, function)


def _element(
    array: Any,
    operand: EpilogueOperand,
    batch: Sequence[sl.Index | int],
    row: sl.Fragment,
    column: sl.Fragment,
) -> Any:
    """Return the operand's element at a place of C; floats as f32."""
    if operand.shape == "number":
        return array
    matrix = tuple(batch[dim] for dim in operand.batch)
    indices = {"mn": (row, column), "m": (row,), "n": (column,), "": ()}[operand.shape]
    element = array[(*matrix, *indices) or (0,)]
    return element.to(sl.f32) if element.dtype.is_float else element


def _check_parameters(
    function: Callable[..., Any], operands: Sequence[EpilogueOperand], products: int
) -> None:
    parameters = list(inspect.signature(function).parameters)
    names = [operand.name for operand in operands]
    for name in names:
        if name in (*_RESERVED, *_POSITIONS) or not name.isidentifier():
            raise ProblemError(
                f"an operand of the epilogue is named {name!r}; expected an identifier other than "
                f"{', '.join((*_RESERVED, *_POSITIONS))}"
            )
    if len(parameters) < products:
        expected = (
            "one for the product's elements" if products == 1 else "two for those of products"
        )
        raise ProblemError(f"the epilogue has {len(parameters)} parameters; expected {expected}")
    for name in parameters[products:]:
        if name not in (*names, *_POSITIONS):
            choices = ", ".join((*names, *_POSITIONS))
            raise ProblemError(f"the epilogue has the parameter {name}; there are {choices}")
    unused = [name for name in names if name not in parameters[products:]]
    if unused:
        raise ProblemError(f"the epilogue has no parameter for the operand {unused[0]}")


def _check_output(result: Any, x: sl.Fragment) -> sl.Fragment:
    """Check that an output is a fragment of x's shape that can be stored, and return it."""
    if not isinstance(result, sl.Fragment) or result.shape != x.shape or result.axis is not None:
        text = getattr(result, "type_text", None) or repr(result)
        rows, columns = x.shape or (0, 0)
        raise ProblemError(
            f"the epilogue returns {text}; expected a fragment {rows}x{columns}, of the shape of the "
            "product that it takes"
        )
    return result
