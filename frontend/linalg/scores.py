"""Scores of attention: products of queries and keys, multiplied by numbers, and masked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from ...bindings.irtypes import Op
from ...kernels.attention.generator.problem import ELEMENTS
from .elements import Elements
from .expressions import Applied, Constant, Element, Node, Reduced, is_cast, is_constant, parts_of
from .generic import GENERIC, is_reduction, owner
from .masks import ARBITRARY, Condition
from .places import Place, counted
from .softmax import Factors, factors, is_lowest, only_loop
from .unfit import Unfit


@dataclass(frozen=True)
class Scores:
    """Scores behind the product of queries and keys.

    Attributes:
        product: the sum of products.
        scale: the factor of the sum.
        seen: when a score is not hidden.
    """

    product: Reduced
    scale: float
    seen: list[Condition]


def scores_of(node: Node, scale: float) -> Scores:
    """Return the scores that an expression is.

    Args:
        node: the expression, in the normal form.
        scale: its factor.

    Raises:
        Unfit: if it is none that the kernel computes.
    """
    seen: list[Condition] = []
    while not isinstance(node, Reduced):
        if (multiplied := _multiplied(node)) is not None:
            node, number = multiplied
            scale *= number
        elif isinstance(node, Applied) and node.name == "arith.select":
            condition, yes, no = node.operands
            type_, holds = node.type, _is_hidden(no, scale, node.type)
            hidden, node = (no, yes) if holds else (yes, no)
            if not _is_hidden(hidden, scale, type_):
                raise Unfit(ARBITRARY)
            seen.append(Condition(condition, holds, hidden.value))
        elif isinstance(node, Applied) and node.name == "arith.addf":
            scored = [
                any(isinstance(part, Reduced) for part in parts_of(each)) for each in node.operands
            ]
            if scored.count(True) != 1:
                raise Unfit(ARBITRARY)
            added = node.operands[scored.index(False)]
            if not is_constant(added, 0):
                seen.append(seen_by(added, scale))
            node = node.operands[scored.index(True)]
        elif isinstance(node, Applied) and node.name:
            raise Unfit(f"computes '{node.name}' of scores by something else than a number")
        else:
            raise Unfit("has scores that are no products of queries and keys")
    return Scores(node, scale, seen)


def seen_by(mask: Node, scale: float) -> Condition:
    """Return under which condition what is added to a score is 0; else it is -inf or about the
    smallest number.

    Args:
        mask: what is added, in the normal form.
        scale: by what it is multiplied.

    Raises:
        Unfit: if it is something else.
    """
    if isinstance(mask, Applied) and mask.name == "arith.select":
        condition, yes, no = mask.operands
        for zero, hidden, holds in ((yes, no, True), (no, yes, False)):
            if is_constant(zero, 0) and _is_hidden(hidden, scale, mask.type):
                return Condition(condition, holds, hidden.value)
    raise Unfit(ARBITRARY)


def summed(elements: Elements, node: Reduced, loop: int) -> tuple[Place, Factors]:
    """Return the place in the one loop along which products are summed, and the factors of a product.

    Args:
        elements: what made the expressions.
        node: the sum.
        loop: the number that the loop gets.

    Raises:
        Unfit: if it is no such sum.
    """
    reduction = elements.reduction(node)
    if reduction is None or reduction.name != "arith.addf":
        raise Unfit("has scores that are no products of queries and keys")
    if not is_constant(elements.normal(reduction.initial), 0):
        raise Unfit("has a product to which something is added")
    counting = only_loop(reduction.loops)
    if counting is None and any(extent != 1 for extent in reduction.loops.values()):
        raise Unfit("has a product that is summed along several dimensions")
    place: Place = ()
    at: Mapping[int, Place] = dict.fromkeys(reduction.loops, place)
    if counting is not None:
        place = counted(loop, counting[1])
        at = {**at, counting[0]: place}
    return place, factors(elements, elements.term(node, at), through=False)


@dataclass(frozen=True)
class Source:
    """What a factor of a product is read from.

    Attributes:
        element: an element of 16 bits.
        number: by what the factor multiplies it.
    """

    element: Element
    number: float


def source_of(
    elements: Elements, node: Node, what: str, hidden: Collection[Op], scaled: bool = True
) -> Source:
    """Return the first element of 16 bits of which a factor is a multiple.

    Args:
        elements: what made the expressions.
        node: the factor.
        what: its name, for messages.
        hidden: ops whose results will be in no memory.
        scaled: whether the factor may be a multiple; else it is the element.

    Raises:
        Unfit: if there is none.
    """
    found: Source | None = None
    number, type_ = 1.0, "an unknown type"
    behind: Op | None = None
    while True:
        if isinstance(node, Element):
            type_ = str(node.value.type.element_type)
            maker = owner(node.value)
            if maker in hidden:
                break
            if type_ in ELEMENTS and not _is_fused(maker, behind):
                found = Source(node, number)
            inside = elements.expanded(node)
            if inside is None:
                break
            node, behind = inside, maker
        elif is_cast(node) and isinstance(node, Applied):
            node = node.operands[0]
        elif scaled and (multiplied := _multiplied(node)) is not None:
            node, factor = multiplied
            number *= factor
        else:
            break
    if found is None:
        expected = " or ".join(ELEMENTS)
        raise Unfit(f"has {what} of {type_}; the kernel takes {expected}, widened where they are")
    return found


def _is_fused(maker: Op | None, behind: Op | None) -> bool:
    """Whether a tensor may be the product of a kernel that stores what an op behind it makes of it."""
    products = maker is not None and maker.name == GENERIC and any(is_reduction(maker))
    return products and behind is not None and behind.name == GENERIC


def _is_hidden(node: Node, scale: float, type_: str) -> TypeGuard[Constant]:
    """Whether a score is -inf or about the smallest number."""
    return isinstance(node, Constant) and is_lowest(Constant(node.value * min(scale, 1)), type_)


def _multiplied(node: Node) -> tuple[Node, float] | None:
    """Return what is multiplied by a number, and the number; None if nothing is."""
    if not isinstance(node, Applied):
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
