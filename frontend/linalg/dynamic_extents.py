"""Extents that are not known, in the arithmetic of strides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

from ...bindings.irtypes import Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...ir import emit
from ...ir.parameters import equal_extents
from ..extents import Extent, extents_of, floordiv, index, product
from .expressions import TensorElement
from .generic import GENERIC, outputs_of, owner
from .loop_indices import LoopIndex
from .unsupported import Unsupported

_DYNAMIC = ir.ShapedType.get_dynamic_size()

#: The exponents of Mersenne's primes that are larger than any extent.
_EXPONENTS = (61, 89, 107, 127, 521, 607, 1279, 2203, 2281, 3217, 4253, 4423, 9689, 9941, 11213)
_PRIMES = tuple((1 << exponent) - 1 for exponent in _EXPONENTS)


@dataclass(frozen=True)
class ExtentSource:
    """A dynamic extent: that of a dimension of a tensor, divided by a number.

    Attributes:
        tensor: the tensor; for a result, an empty one of its extents.
        dim: the dimension.
        divisor: the product of the static extents that the dimension consists of, besides.
    """

    tensor: Value
    dim: int
    divisor: int

    def emit(self, memory: Value | None) -> Extent:
        """Emit the extent, and return it.

        Args:
            memory: that of the tensor, if it is an operand.
        """
        dim = (
            emit.value("tensor.dim", (self.tensor, index(self.dim)), ir.IndexType.get())
            if memory is None
            else extents_of(memory)[self.dim]
        )
        return floordiv(dim, self.divisor)


class DynamicExtents:
    """Numbers in the places of the dynamic extents of operands' loops.

    A number is a prime that no known extent has as a factor, so products of extents are compared and
    divided like known ones, and can be factored again.

    Args:
        operands: an element of each operand.
        result: an element of the result.

    Attributes:
        sources: the dynamic extents, by their numbers.

    Raises:
        Unsupported: for an extent that no dimension of a tensor has alone.
    """

    def __init__(self, operands: Iterable[TensorElement], result: TensorElement) -> None:
        sources: dict[tuple[int, int], ExtentSource | None] = {}
        for element in (*operands, result):
            tensor = _empty_tensor(result.value) if element is result else element.value
            for dim, digits in enumerate(element.indices):
                dynamic = [digit for digit in digits if digit.extent == _DYNAMIC]
                others = prod(digit.extent for digit in digits if digit not in dynamic)
                for digit in dynamic:
                    source = sources.setdefault((digit.loop, digit.step), None)
                    if source is None and tensor is not None and len(dynamic) == 1:
                        sources[digit.loop, digit.step] = ExtentSource(tensor, dim, others)
        self._numbers = dict(zip(sources, _PRIMES, strict=False))
        self.sources: dict[int, ExtentSource] = {}
        for place, source in sources.items():
            if source is None:
                raise Unsupported("has a dynamic extent that is part of others in each tensor")
            self.sources[self._numbers[place]] = source

    def origin(self, number: int) -> ExtentOrigin | None:
        """Return where an extent comes from; None if that is not known, or it is a product."""
        if is_static(number):
            return number
        source = self.sources.get(number)
        if source is None or source.divisor != 1:
            return None
        return origin_of_extent(source.tensor, source.dim)

    def index(self, index: LoopIndex) -> LoopIndex:
        """Return an index with numbers in the places of dynamic extents."""
        return tuple(
            replace(digit, extent=self._numbers[digit.loop, digit.step])
            if digit.extent == _DYNAMIC
            else digit
            for digit in index
        )

    def element(self, element: TensorElement) -> TensorElement:
        """Return an element of a tensor, with numbers in the places of dynamic extents."""
        return replace(element, indices=tuple(map(self.index, element.indices)))


def _empty_tensor(result: Value) -> Value | None:
    """Return an empty tensor of a result's extents; None if there is none."""
    op = owner(result)
    while op is not None and op.name == GENERIC:
        result = outputs_of(op)[result.result_number]
        op = owner(result)
    return result if op is not None and op.name == "tensor.empty" else None


def shape_of(element: TensorElement) -> list[int]:
    """Return the extents of an element's tensor, by its indices where they are dynamic."""
    shape = element.value.type.shape
    return [
        prod(digit.extent for digit in index) if extent == _DYNAMIC else extent
        for extent, index in zip(shape, element.indices, strict=True)
    ]


def is_static(number: int) -> bool:
    """Whether a product of extents has no dynamic one."""
    return all(number % prime for prime in _PRIMES)


def emit_extent(number: int, extents: Mapping[int, Extent]) -> Extent:
    """Return a product of extents, emitted if one is dynamic.

    Args:
        number: the product.
        extents: the dynamic extents, by their numbers.
    """
    factors: list[Extent] = []
    for prime, extent in extents.items():
        while number % prime == 0:
            number //= prime
            factors.append(extent)
    return product([number, *factors])


#: A static extent; a dimension of an argument, by numbers, the first one of those with an equal name in
#: `smem.shape`; or a value or the dimension of a tensor of which no more is known.
ExtentOrigin = int | tuple[int, int] | Value | tuple[Value, int]


def origin_of_extent(tensor: Value, dim: int) -> ExtentOrigin:
    """Return where an extent of a tensor comes from: extents of equal origins are equal."""
    type_ = tensor.type
    if not type_.is_dynamic_dim(dim):
        return int(type_.shape[dim])
    op = owner(tensor)
    if op is None:
        is_argument = tensor.owner.owner.operation.name == "func.func"
        function, number = tensor.owner.owner, tensor.arg_number
        return equal_extents(function, number, dim)[0] if is_argument else (tensor, dim)
    if op.name == GENERIC:
        return origin_of_extent(outputs_of(op)[tensor.result_number], dim)
    if op.name == "tensor.cast":
        return origin_of_extent(op.operands[0], dim)
    is_slice = op.name == "tensor.extract_slice" and op.operands[0].type.rank == type_.rank
    if is_slice or op.name in ("tensor.empty", "tensor.expand_shape"):
        sizes = [value for value in op.operands if isinstance(value.type, ir.IndexType)]
        if is_slice:
            _, offsets, count, _ = op.attributes["operandSegmentSizes"]
            sizes = sizes[offsets : offsets + count]
        return _origin_of_number(sizes[sum(map(type_.is_dynamic_dim, range(dim)))])
    if op.name == "tensor.collapse_shape":
        source = op.operands[0]
        group = [ir.IntegerAttr(d).value for d in ir.ArrayAttr(op.attributes["reassociation"][dim])]
        wide = [d for d in group if source.type.is_dynamic_dim(d) or source.type.shape[d] != 1]
        if len(wide) == 1:
            return origin_of_extent(source, wide[0])
    return tensor, dim


def _origin_of_number(number: Value) -> ExtentOrigin:
    op = owner(number)
    if op is not None and op.name == "tensor.dim":
        dim = constant_of(op.operands[1])
        return number if dim is None else origin_of_extent(op.operands[0], dim)
    if op is not None and op.name == "arith.divsi":
        factor = _factor_of_product(op.operands[0], constant_of(op.operands[1]))
        return number if factor is None else _origin_of_number(factor)
    return number


def _factor_of_product(number: Value, by: int | None) -> Value | None:
    """Match `x * by`, as torch-mlir writes it; return `x`."""
    op = owner(number)
    if op is None or op.name != "affine.apply" or by is None or len(op.operands) != 1:
        return None
    (result,) = ir.AffineMapAttr(op.attributes["map"]).value.results
    symbol = ir.AffineSymbolExpr.get(0)
    is_product = result == ir.AffineMulExpr.get(symbol, ir.AffineConstantExpr.get(by))
    return op.operands[0] if is_product else None
