"""Scores of attention: products of queries and keys, multiplied by numbers, and masked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from ...bindings.irtypes import Op
from ...kernels.attention.generator.problem import ELEMENTS
from .expression_builder import ExpressionBuilder
from .expressions import (
    AppliedOp,
    Constant,
    Node,
    ReducedElement,
    TensorElement,
    is_cast,
    is_constant,
    parts_of,
)
from .generic import GENERIC, is_reduction, owner
from .loop_indices import LoopIndex, loop_index
from .masks import ARBITRARY, MaskCondition
from .softmax import Factors, factors, is_lowest, only_loop
from .unsupported import Unsupported

#: A part of reasons.
_MASKS = "the kernel has causal masks and windows"


@dataclass(frozen=True)
class Scores:
    """Masked scores, `scale * sum(q * k)`.

    Attributes:
        product: the sum of products.
        scale: the factor of the sum.
        conditions: a score is not masked where all of them hold.
    """

    product: ReducedElement
    scale: float
    conditions: list[MaskCondition]


def match_scores(node: Node, scale: float) -> Scores:
    """Match masked scores.

    Args:
        node: the expression, in the normal form.
        scale: its factor.

    Raises:
        Unsupported: for scores that the kernel does not compute.
    """
    conditions: list[MaskCondition] = []
    while not isinstance(node, ReducedElement):
        if (scaling := _match_scaling(node)) is not None:
            node, number = scaling
            scale *= number
        elif isinstance(node, AppliedOp) and node.name == "arith.select":
            condition, yes, no = node.operands
            type_, holds = node.type, _hides(no, scale, node.type)
            masked, node = (no, yes) if holds else (yes, no)
            if not _hides(masked, scale, type_):
                raise Unsupported(_reason_of_fill(no if isinstance(no, Constant) else yes, type_))
            conditions.append(MaskCondition(condition, holds, masked.value))
        elif isinstance(node, AppliedOp) and node.name == "arith.addf":
            has_product = [
                any(isinstance(part, ReducedElement) for part in parts_of(operand))
                for operand in node.operands
            ]
            if has_product.count(True) != 1:
                raise Unsupported(ARBITRARY)
            addend = node.operands[has_product.index(False)]
            if not is_constant(addend, 0):
                conditions.append(match_additive_mask(addend, scale))
            node = node.operands[has_product.index(True)]
        elif isinstance(node, AppliedOp) and node.name:
            raise Unsupported(
                f"computes '{node.name}' of scores; the kernel multiplies them by a constant, and masks"
            )
        else:
            raise Unsupported("has scores that are no products of queries and keys")
    return Scores(node, scale, conditions)


def match_additive_mask(mask: Node, scale: float) -> MaskCondition:
    """Match `select(condition, 0, masked)`, where `masked` is -inf or about the smallest number.

    Args:
        mask: the addend of a score, in the normal form.
        scale: the factor of the addend.

    Raises:
        Unsupported: for any other addend.
    """
    if isinstance(mask, AppliedOp) and mask.name == "arith.select":
        condition, yes, no = mask.operands
        for zero, masked, holds in ((yes, no, True), (no, yes, False)):
            if is_constant(zero, 0) and _hides(masked, scale, mask.type):
                return MaskCondition(condition, holds, masked.value)
            if is_constant(zero, 0) and isinstance(masked, Constant):
                raise Unsupported(_reason_of_fill(masked, mask.type))
    if any(isinstance(part, TensorElement) for part in parts_of(mask)):
        raise Unsupported(f"adds a tensor to scores, a bias or a mask; {_MASKS}")
    raise Unsupported(f"adds numbers to scores that are no mask; {_MASKS}")


def _reason_of_fill(masked: Node, type_: str) -> str:
    """Return why a kernel does not mask with a score."""
    if not isinstance(masked, Constant):
        return ARBITRARY
    return (
        f"masks with {masked.value:g}, which may be a score; the kernel takes -inf, and about the "
        f"smallest number of {type_}"
    )


def match_sum_of_products(
    builder: ExpressionBuilder, node: ReducedElement, loop: int
) -> tuple[LoopIndex, Factors]:
    """Match a sum of products along one loop; return the index of the loop, and the factors of a product.

    Args:
        builder: the builder of the expressions.
        node: the sum.
        loop: the number that the loop gets.

    Raises:
        Unsupported: for any other reduction.
    """
    reduction = builder.reduction(node)
    if reduction is None or reduction.name != "arith.addf":
        raise Unsupported("has scores that are no products of queries and keys")
    if not is_constant(builder.normalize(reduction.initial), 0):
        raise Unsupported("has a product to which something is added")
    counting_loop = only_loop(reduction.loops)
    if counting_loop is None and any(extent != 1 for extent in reduction.loops.values()):
        raise Unsupported("has a product that is summed along several dimensions")
    index: LoopIndex = ()
    indices: Mapping[int, LoopIndex] = dict.fromkeys(reduction.loops, index)
    if counting_loop is not None:
        index = loop_index(loop, counting_loop[1])
        indices = {**indices, counting_loop[0]: index}
    return index, factors(builder, builder.term(node, indices), through=False)


@dataclass(frozen=True)
class ScaledElement:
    """A factor of a product, `number * element`.

    Attributes:
        element: an element of 16 bits.
        number: its factor.
    """

    element: TensorElement
    number: float


def match_scaled_element(
    builder: ExpressionBuilder, node: Node, role: str, hidden: Collection[Op], scaled: bool = True
) -> ScaledElement:
    """Match `number * element`, with the earliest element of 16 bits that is in memory.

    Args:
        builder: the builder of the expressions.
        node: the factor of a product.
        role: the factor's name, for messages.
        hidden: ops whose results will be in no memory.
        scaled: whether `number` may differ from 1.

    Raises:
        Unsupported: if there is no such element.
    """
    scaled_element: ScaledElement | None = None
    number, type_ = 1.0, "an unknown type"
    user: Op | None = None
    while True:
        if isinstance(node, TensorElement):
            type_ = str(node.value.type.element_type)
            producer = owner(node.value)
            if producer in hidden:
                break
            if type_ in ELEMENTS and not _is_fused(producer, user):
                scaled_element = ScaledElement(node, number)
            expansion = builder.expand(node)
            if expansion is None:
                break
            node, user = expansion, producer
        elif is_cast(node) and isinstance(node, AppliedOp):
            node = node.operands[0]
        elif scaled and (scaling := _match_scaling(node)) is not None:
            node, factor = scaling
            number *= factor
        else:
            break
    if scaled_element is None:
        expected = " or ".join(ELEMENTS)
        raise Unsupported(
            f"has {role} of {type_}; the kernel takes {expected}, widened where they are"
        )
    return scaled_element


def _is_fused(producer: Op | None, user: Op | None) -> bool:
    """Whether a reduction's result may be in no memory, because its user may become its epilogue."""
    products = producer is not None and producer.name == GENERIC and any(is_reduction(producer))
    return products and user is not None and user.name == GENERIC


def _hides(node: Node, scale: float, type_: str) -> TypeGuard[Constant]:
    """Whether `scale * node` is -inf or about the smallest number."""
    return isinstance(node, Constant) and is_lowest(Constant(node.value * min(scale, 1)), type_)


def _match_scaling(node: Node) -> tuple[Node, float] | None:
    """Match `node * number`."""
    if not isinstance(node, AppliedOp):
        return None
    if node.name == "arith.negf":
        return node.operands[0], -1.0
    if node.name not in ("arith.mulf", "arith.divf"):
        return None
    left, right = node.operands
    if isinstance(right, Constant) and right.value:
        return left, right.value if node.name == "arith.mulf" else 1 / right.value
    if isinstance(left, Constant) and node.name == "arith.mulf":
        return right, left.value
    return None
