"""Builds the expression of which an element of a tensor is computed.

The builder follows the element's producers backwards through reshapes, transpositions, casts and
element-wise ops, fused or not. Sums and maxima along loops are nodes; their terms are read on demand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...bindings.irtypes import Op, Type, Value
from ...bindings.mlir import ir
from .expressions import (
    FLOAT_CASTS,
    MAXIMA,
    AppliedOp,
    Constant,
    IndexValue,
    Node,
    ReducedElement,
    TensorElement,
    is_cast,
    is_constant,
    parts_of,
)
from .generic import GENERIC, body, inputs_of, is_reduction, outputs_of, owner, terminator
from .loop_indices import LoopIndex, join_indices, split_index

_DYNAMIC = ir.ShapedType.get_dynamic_size()

#: The depth to which expressions are normalized; attention needs less than a tenth.
_DEEPEST = 200

#: Dialects whose ops have no other inputs than their operands.
_PURE = ("arith", "math", "tensor")


@dataclass(frozen=True)
class Reduction:
    """The reduction of an initial value and all terms by an op.

    Attributes:
        name: the op that combines two values, for example "arith.addf".
        initial: the initial value.
        loops: the reduced loops: their extents, by their numbers.
    """

    name: str
    initial: Node
    loops: Mapping[int, int]


class ExpressionBuilder:
    """Builds expressions of elements of tensors; equal expressions are the same object."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[Any, ...], Any] = {}
        self._expansions: dict[TensorElement, Node | None] = {}
        self._normal_forms: dict[Node, Node] = {}
        self._depth = 0

    def element(self, value: Value, indices: Sequence[LoopIndex]) -> TensorElement:
        """Return the expression for an element of a tensor."""
        return self._node(TensorElement, value, tuple(indices))

    def expand(self, element: TensorElement) -> Node | None:
        """Return the expression that the tensor's producer computes; None if it is not known."""
        if element not in self._expansions:
            self._expansions[element] = self._expand(element)
        return self._expansions[element]

    def normalize(self, node: Node) -> Node:
        """Expand an expression down to reductions and unknown tensors, and drop casts.

        Numbers that the same ops compute are the same object then.
        """
        if node not in self._normal_forms:
            if self._depth == _DEEPEST:
                return node
            self._depth += 1
            self._normal_forms[node] = self._normalize(node)
            self._depth -= 1
        return self._normal_forms[node]

    def reduction(self, node: ReducedElement) -> Reduction | None:
        """Return the reduction that computes an element; None for a body of another form."""
        combined = self._combine(node, node.indices)
        if combined is None:
            return None
        name, _, result_indices = combined
        extents = _extents(node.op)
        loops = {loop: extents[loop] for loop, index in enumerate(node.indices) if index is None}
        initial = self.element(outputs_of(node.op)[node.number], result_indices)
        return Reduction(name, initial, loops)

    def term(self, node: ReducedElement, reduced_indices: Mapping[int, LoopIndex]) -> Node:
        """Return a term of a reduction.

        Args:
            node: the result of the reduction.
            reduced_indices: the indices of the reduced loops.
        """
        indices = tuple(reduced_indices.get(loop, index) for loop, index in enumerate(node.indices))
        combined = self._combine(node, indices)
        assert combined is not None, "a term is asked for after its reduction"
        return combined[1]

    def _node(self, class_: Any, *fields: Any) -> Any:
        """Return the node of these fields."""
        # 1, 1.0 and True are equal keys.
        key = (class_, *fields, type(fields[0]))
        if key not in self._nodes:
            self._nodes[key] = class_(*fields)
        return self._nodes[key]

    def _expand(self, element: TensorElement) -> Node | None:
        op = owner(element.value)
        if op is None:
            return None
        if op.name == "arith.constant":
            value = _splat(op.attributes["value"])
            if value is None and _counts_up(op.attributes["value"]):
                return self._node(IndexValue, element.indices[0])
            return None if value is None else self._node(Constant, value)
        if op.name == "tensor.cast":
            return self.element(op.operands[0], element.indices)
        if op.name in ("tensor.collapse_shape", "tensor.expand_shape"):
            indices = _before_reshape(op, element.indices)
            return None if indices is None else self.element(op.operands[0], indices)
        if op.name == "linalg.fill":
            return self._scalar(op.operands[0])
        return self._of_generic(op, element) if op.name == GENERIC else None

    def _of_generic(self, op: Op, element: TensorElement) -> Node | None:
        result = list(op.results).index(element.value)
        maps, reduces = _maps(op), is_reduction(op)
        if maps is None:
            return None
        indices: dict[int, LoopIndex] = {}
        for loop, index in zip(maps[len(inputs_of(op)) + result], element.indices, strict=True):
            # Elements beside the diagonal, or beside index 0, are those of the output.
            if indices.setdefault(loop, index) != index if loop is not None else index:
                return None
        for loop, extent in enumerate(_extents(op)):
            if loop not in indices and not reduces[loop]:
                if extent != 1:
                    return None
                indices[loop] = ()
        loop_indices = tuple(indices.get(loop) for loop in range(len(reduces)))
        if any(reduces):
            return self._node(ReducedElement, op, result, loop_indices)
        return _BodyExpressions(self, op, maps, loop_indices).result(result)

    def _combine(
        self, node: ReducedElement, loop_indices: tuple[LoopIndex | None, ...]
    ) -> tuple[str, Node, tuple[LoopIndex, ...]] | None:
        """Match `op(output, term)`; return the op's name, the term, and the indices of the result."""
        maps = _maps(node.op)
        if maps is None:
            return None
        body_expressions = _BodyExpressions(self, node.op, maps, loop_indices)
        combined = body_expressions.result(node.number)
        so_far = body_expressions.output(node.number)
        if not isinstance(combined, AppliedOp) or len(combined.operands) != 2:
            return None
        terms = [term for term in combined.operands if term is not so_far]
        if len(terms) != 1 or body_expressions.reads_outputs(terms[0]):
            return None
        result_indices = tuple(
            () if loop is None else loop_indices[loop] or ()
            for loop in maps[len(inputs_of(node.op)) + node.number]
        )
        return combined.name, terms[0], result_indices

    def _scalar(self, value: Value) -> Node:
        """Return the expression of a scalar from outside of a body."""
        op = owner(value)
        if op is not None and op.name == "arith.constant":
            number = _number(op.attributes["value"])
            if number is not None:
                return self._node(Constant, number)
        return self._node(AppliedOp, "", str(value.type), (), value)

    def _apply(self, op: Op, operands: tuple[Node, ...]) -> Node:
        """Return the expression of an op on scalars; conversions of constants are folded."""
        if len(op.results) != 1 or op.name.split(".")[0] not in _PURE or len(op.regions):
            # It equals no other expression, not even itself in another iteration.
            return AppliedOp("", "", operands, op)
        type_: Type = op.results[0].type
        if op.name in FLOAT_CASTS and isinstance(operands[0], Constant):
            value = ir.FloatAttr.get(type_, float(operands[0].value)).value
            return self._node(Constant, value)
        detail = int(op.attributes["predicate"]) if "predicate" in op.attributes else None
        return self._node(AppliedOp, op.name, str(type_), operands, detail)

    def _normalize(self, node: Node) -> Node:
        if isinstance(node, TensorElement):
            expansion = self.expand(node)
            return node if expansion is None else self.normalize(expansion)
        if not isinstance(node, AppliedOp):
            return node
        operands = tuple(map(self.normalize, node.operands))
        if is_cast(node):
            return operands[0]
        if node.name in MAXIMA:
            # max(x, -inf) = x
            operands_left = [
                operand for operand in operands if not is_constant(operand, float("-inf"))
            ]
            if len(operands_left) == 1:
                return operands_left[0]
        return self._node(AppliedOp, node.name, node.type, operands, node.detail)


class _BodyExpressions:
    """The expressions in the body of a generic op, in one iteration.

    Args:
        builder: the builder of the expressions.
        op: the generic op.
        maps: the loops by dimension of each operand, as `_maps` returns them.
        loop_indices: the index of each loop; None where it is not needed.
    """

    def __init__(
        self,
        builder: ExpressionBuilder,
        op: Op,
        maps: list[list[int | None]],
        loop_indices: tuple[LoopIndex | None, ...],
    ) -> None:
        self._builder, self._op, self._loop_indices = builder, op, loop_indices
        self._nodes: dict[Value, Node] = {}
        self._outputs: list[Node] = []
        inputs = len(inputs_of(op))
        operands = [*inputs_of(op), *outputs_of(op)]
        reduces = any(is_reduction(op))
        for argument, value, map_ in zip(body(op).arguments, operands, maps, strict=True):
            if reduces and argument.arg_number >= inputs:
                node = builder._node(AppliedOp, "", "", (), (op, argument.arg_number))
                self._outputs.append(node)
            elif isinstance(value.type, ir.RankedTensorType):
                node = builder.element(
                    value, tuple(() if loop is None else loop_indices[loop] or () for loop in map_)
                )
            else:
                node = builder._scalar(value)
            self._nodes[argument] = node
        for body_op in body(op).operations:
            for value in body_op.results:
                self._nodes[value] = self._compute(body_op.operation)

    def result(self, number: int) -> Node:
        """Return the expression that the body yields for a result."""
        block = body(self._op)
        return self._of(terminator(block).operands[number])

    def output(self, number: int) -> Node:
        """Return the node of a reduction's result before the iteration."""
        return self._outputs[number]

    def reads_outputs(self, node: Node) -> bool:
        """Whether an expression contains a reduction's result before the iteration."""
        return any(part in self._outputs for part in parts_of(node))

    def _of(self, value: Value) -> Node:
        """Return a value of the body, or one from outside."""
        return self._nodes[value] if value in self._nodes else self._builder._scalar(value)

    def _compute(self, op: Op) -> Node:
        if op.name == "arith.constant":
            return self._builder._scalar(op.results[0])
        if op.name == "linalg.index":
            index = self._loop_indices[ir.IntegerAttr(op.attributes["dim"]).value]
            return self._builder._node(IndexValue, index or ())
        return self._builder._apply(op, tuple(map(self._of, op.operands)))


def _maps(op: Op) -> list[list[int | None]] | None:
    """Return the loops that index each operand, by dimension; None for the index 0.

    Return None if an operand has any other index.
    """
    maps: list[list[int | None]] = []
    for attribute in op.attributes["indexing_maps"]:
        loops: list[int | None] = []
        for expr in ir.AffineMapAttr(attribute).value.results:
            if isinstance(expr, ir.AffineDimExpr):
                loops.append(ir.AffineDimExpr(expr).position)
            elif isinstance(expr, ir.AffineConstantExpr) and ir.AffineConstantExpr(expr).value == 0:
                loops.append(None)
            else:
                return None
        maps.append(loops)
    return maps


def _extents(op: Op) -> list[int]:
    """Return the extents of a generic op's loops, static ones where an operand has them.

    A loop that indexes no operand has 0.
    """
    extents = [0] * len(is_reduction(op))
    for value, loops in zip([*inputs_of(op), *outputs_of(op)], _maps(op) or [], strict=True):
        for dim, loop in enumerate(loops):
            if loop is not None and extents[loop] in (0, _DYNAMIC):
                extents[loop] = value.type.shape[dim]
    return extents


def _before_reshape(op: Op, indices: tuple[LoopIndex, ...]) -> list[LoopIndex] | None:
    """Return the indices of an element before a reshape; None if they are no digits of loops."""
    groups = [[int(dim) for dim in group] for group in op.attributes["reassociation"]]
    if op.name == "tensor.expand_shape":
        return [join_indices(indices[dim] for dim in group) for group in groups]
    source_indices: list[LoopIndex] = []
    shape = op.operands[0].type.shape
    for group, index in zip(groups, indices, strict=True):
        parts = split_index(index, [shape[dim] for dim in group])
        if parts is None:
            return None
        source_indices += parts
    # All dimensions of extent 1 of a tensor are collapsed to none.
    return source_indices if groups else [()] * len(shape)


def _splat(attribute: Any) -> float | bool | None:
    """Return the number that all elements of a constant tensor are; None if there is none."""
    dense = isinstance(attribute, ir.DenseFPElementsAttr | ir.DenseIntElementsAttr)
    return _number(attribute.get_splat_value()) if dense and attribute.is_splat else None


def _counts_up(attribute: Any) -> bool:
    """Whether the elements of a constant tensor are their own indices."""
    if (
        not isinstance(attribute, ir.DenseIntElementsAttr)
        or ir.ShapedType(attribute.type).rank != 1
    ):
        return False
    return all(number == position for position, number in enumerate(attribute))


def _number(attribute: Any) -> float | bool | None:
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr):
        return attribute.value
    return None
