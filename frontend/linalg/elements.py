"""What an element of a tensor is computed from, as an expression.

The element's producers are followed backwards: reshapes, transpositions, casts and element-wise ops,
however upstream has fused them, are one expression then. Sums and maxima along loops are nodes of it,
whose terms are read on demand.
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
    Applied,
    Constant,
    Element,
    Index,
    Node,
    Reduced,
    is_cast,
    is_constant,
    parts_of,
)
from .generic import GENERIC, body, inputs_of, is_reduction, outputs_of, owner
from .places import Place, joined, split

_DYNAMIC = ir.ShapedType.get_dynamic_size()

#: Expressions are not looked into below this depth, of which no attention has a tenth.
_DEEPEST = 200

#: Dialects whose ops have no other inputs than their operands.
_PURE = ("arith", "math", "tensor")


@dataclass(frozen=True)
class Reduction:
    """A reduction: its result is `name` of the initial value and of all terms.

    Attributes:
        name: of the op that combines two of them, for example "arith.addf".
        initial: the initial value.
        loops: the extents of the loops that are reduced, by their numbers.
    """

    name: str
    initial: Node
    loops: Mapping[int, int]


class Elements:
    """Makes expressions of elements."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Any] = {}
        self._expanded: dict[Element, Node | None] = {}
        self._normal: dict[Node, Node] = {}
        self._depth = 0

    def element(self, value: Value, at: Sequence[Place]) -> Element:
        """Return the expression for an element of a tensor."""
        return self._node(Element, value, tuple(at))

    def expanded(self, element: Element) -> Node | None:
        """Return what the op that makes a tensor computes an element from; None if that is not known."""
        if element not in self._expanded:
            self._expanded[element] = self._expansion(element)
        return self._expanded[element]

    def normal(self, node: Node) -> Node:
        """Return an expression down to reductions and unknown tensors, without casts: equal numbers that
        were computed by the same ops are the same object then."""
        if node not in self._normal:
            if self._depth == _DEEPEST:
                return node
            self._depth += 1
            self._normal[node] = self._normalized(node)
            self._depth -= 1
        return self._normal[node]

    def reduction(self, node: Reduced) -> Reduction | None:
        """Return the reduction that makes an element; None if its terms cannot be told apart."""
        found = self._combined(node, node.at)
        if found is None:
            return None
        name, _, at = found
        extents = _extents(node.op)
        loops = {loop: extents[loop] for loop, place in enumerate(node.at) if place is None}
        initial = self.element(outputs_of(node.op)[node.number], at)
        return Reduction(name, initial, loops)

    def term(self, node: Reduced, at: Mapping[int, Place]) -> Node:
        """Return a term of a reduction.

        Args:
            node: the element that it makes.
            at: the places in the loops that are reduced.
        """
        places = tuple(at.get(loop, place) for loop, place in enumerate(node.at))
        found = self._combined(node, places)
        assert found is not None, "a term is asked for after its reduction"
        return found[1]

    def _node(self, class_: Any, *fields: Any) -> Any:
        """Return the node of these fields."""
        # 1, 1.0 and True are equal keys.
        key = (class_, *fields, type(fields[0]))
        if key not in self._made:
            self._made[key] = class_(*fields)
        return self._made[key]

    def _expansion(self, element: Element) -> Node | None:
        op = owner(element.value)
        if op is None:
            return None
        if op.name == "arith.constant":
            value = _splat(op.attributes["value"])
            if value is None and _counts_up(op.attributes["value"]):
                return self._node(Index, element.at[0])
            return None if value is None else self._node(Constant, value)
        if op.name == "tensor.cast":
            return self.element(op.operands[0], element.at)
        if op.name in ("tensor.collapse_shape", "tensor.expand_shape"):
            at = _before_reshape(op, element.at)
            return None if at is None else self.element(op.operands[0], at)
        if op.name == "linalg.fill":
            return self._scalar(op.operands[0])
        return self._of_generic(op, element) if op.name == GENERIC else None

    def _of_generic(self, op: Op, element: Element) -> Node | None:
        result = list(op.results).index(element.value)
        maps, reduces = _maps(op), is_reduction(op)
        if maps is None:
            return None
        places: dict[int, Place] = {}
        for loop, place in zip(maps[len(inputs_of(op)) + result], element.at, strict=True):
            # Elements beside the diagonal, or beside index 0, are those of the output.
            if places.setdefault(loop, place) != place if loop is not None else place:
                return None
        for loop, extent in enumerate(_extents(op)):
            if loop not in places and not reduces[loop]:
                if extent != 1:
                    return None
                places[loop] = ()
        at = tuple(places.get(loop) for loop in range(len(reduces)))
        if any(reduces):
            return self._node(Reduced, op, result, at)
        return _Body(self, op, maps, at).yielded(result)

    def _combined(
        self, node: Reduced, at: tuple[Place | None, ...]
    ) -> tuple[str, Node, tuple[Place, ...]] | None:
        """Return by which op a reduction combines, the term, and the place of the element."""
        maps = _maps(node.op)
        if maps is None:
            return None
        computed = _Body(self, node.op, maps, at)
        yielded = computed.yielded(node.number)
        so_far = computed.output(node.number)
        if not isinstance(yielded, Applied) or len(yielded.operands) != 2:
            return None
        terms = [each for each in yielded.operands if each is not so_far]
        if len(terms) != 1 or computed.reads_outputs(terms[0]):
            return None
        made = tuple(
            () if loop is None else at[loop] or ()
            for loop in maps[len(inputs_of(node.op)) + node.number]
        )
        return yielded.name, terms[0], made

    def _scalar(self, value: Value) -> Node:
        """Return a scalar from outside of a body."""
        op = owner(value)
        if op is not None and op.name == "arith.constant":
            found = _number(op.attributes["value"])
            if found is not None:
                return self._node(Constant, found)
        return self._node(Applied, "", str(value.type), (), value)

    def _applied(self, op: Op, operands: tuple[Node, ...]) -> Node:
        """Return an op on scalars; conversions of constants are computed."""
        if len(op.results) != 1 or op.name.split(".")[0] not in _PURE or len(op.regions):
            # It is equal to nothing else, not to itself in another iteration either.
            return Applied("", "", operands, op)
        type_: Type = op.results[0].type
        if op.name in FLOAT_CASTS and isinstance(operands[0], Constant):
            value = ir.FloatAttr.get(type_, float(operands[0].value)).value
            return self._node(Constant, value)
        detail = int(op.attributes["predicate"]) if "predicate" in op.attributes else None
        return self._node(Applied, op.name, str(type_), operands, detail)

    def _normalized(self, node: Node) -> Node:
        if isinstance(node, Element):
            inside = self.expanded(node)
            return node if inside is None else self.normal(inside)
        if not isinstance(node, Applied):
            return node
        operands = tuple(map(self.normal, node.operands))
        if is_cast(node):
            return operands[0]
        if node.name in MAXIMA:
            # The largest number of none is -inf.
            rest = [each for each in operands if not is_constant(each, float("-inf"))]
            if len(rest) == 1:
                return rest[0]
        return self._node(Applied, node.name, node.type, operands, node.detail)


class _Body:
    """The body of a generic op in one iteration.

    Args:
        elements: makes its expressions.
        op: the generic op.
        maps: its loops by dimension of each operand.
        at: the place in each loop; None where it is not asked for.
    """

    def __init__(
        self,
        elements: Elements,
        op: Op,
        maps: list[list[int | None]],
        at: tuple[Place | None, ...],
    ) -> None:
        self._elements, self._op, self._at = elements, op, at
        self._known: dict[Value, Node] = {}
        self._outputs: list[Node] = []
        inputs = len(inputs_of(op))
        operands = [*inputs_of(op), *outputs_of(op)]
        reduces = any(is_reduction(op))
        for argument, value, map_ in zip(body(op).arguments, operands, maps, strict=True):
            if reduces and argument.arg_number >= inputs:
                made = elements._node(Applied, "", "", (), (op, argument.arg_number))
                self._outputs.append(made)
            elif isinstance(value.type, ir.RankedTensorType):
                made = elements.element(
                    value, tuple(() if loop is None else at[loop] or () for loop in map_)
                )
            else:
                made = elements._scalar(value)
            self._known[argument] = made
        for each in body(op).operations:
            for value in each.results:
                self._known[value] = self._computed(each.operation)

    def yielded(self, result: int) -> Node:
        """Return what is yielded for a result."""
        block = body(self._op)
        return self._of(block.operations[len(block.operations) - 1].operands[result])

    def output(self, result: int) -> Node:
        """Return what stands for the value of a reduction's result before the iteration."""
        return self._outputs[result]

    def reads_outputs(self, node: Node) -> bool:
        """Whether an expression of the body has the value of a result before the iteration."""
        return any(each in self._outputs for each in parts_of(node))

    def _of(self, value: Value) -> Node:
        """Return a value of the body, or one from outside."""
        return self._known[value] if value in self._known else self._elements._scalar(value)

    def _computed(self, op: Op) -> Node:
        if op.name == "arith.constant":
            return self._elements._scalar(op.results[0])
        if op.name == "linalg.index":
            place = self._at[ir.IntegerAttr(op.attributes["dim"]).value]
            return self._elements._node(Index, place or ())
        return self._elements._applied(op, tuple(map(self._of, op.operands)))


def _maps(op: Op) -> list[list[int | None]] | None:
    """Return the loops that index each operand, by its dimensions, with None for the index 0.

    It is None if some operand is indexed by something else.
    """
    found: list[list[int | None]] = []
    for attribute in op.attributes["indexing_maps"]:
        loops: list[int | None] = []
        for each in ir.AffineMapAttr(attribute).value.results:
            if isinstance(each, ir.AffineDimExpr):
                loops.append(ir.AffineDimExpr(each).position)
            elif isinstance(each, ir.AffineConstantExpr) and ir.AffineConstantExpr(each).value == 0:
                loops.append(None)
            else:
                return None
        found.append(loops)
    return found


def _extents(op: Op) -> list[int]:
    """Return the extents of a generic op's loops, static ones where an operand has them; 0 for loops that
    index no operand."""
    found = [0] * len(is_reduction(op))
    for value, loops in zip([*inputs_of(op), *outputs_of(op)], _maps(op) or [], strict=True):
        for at, loop in enumerate(loops):
            if loop is not None and found[loop] in (0, _DYNAMIC):
                found[loop] = value.type.shape[at]
    return found


def _before_reshape(op: Op, at: tuple[Place, ...]) -> list[Place] | None:
    """Return the place of an element before it is reshaped; None if it cannot be told."""
    groups = [[int(dim) for dim in group] for group in op.attributes["reassociation"]]
    if op.name == "tensor.expand_shape":
        return [joined(at[dim] for dim in group) for group in groups]
    found: list[Place] = []
    shape = op.operands[0].type.shape
    for group, place in zip(groups, at, strict=True):
        parts = split(place, [shape[dim] for dim in group])
        if parts is None:
            return None
        found += parts
    # All dimensions of extent 1 of a tensor are collapsed to none.
    return found if groups else [()] * len(shape)


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
    return all(number == at for at, number in enumerate(attribute))


def _number(attribute: Any) -> float | bool | None:
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr):
        return attribute.value
    return None
