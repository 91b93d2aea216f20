"""Attention: the product of queries and keys, a softmax, and the product of its weights and values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import inf

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from .elements import Elements
from .expressions import Element, Node, Reduced, parts_of
from .generic import GENERIC, RESHAPES, inputs_of, is_reduction, owner
from .masks import Condition, Sight, sight_of
from .places import Place, counted
from .precision import HIGHEST, PRECISION, is_highest
from .schedule import CONFIG
from .scores import scores_of, seen_by, source_of, summed
from .softmax import exponential_of, factors, softmax
from .unfit import Unfit

#: torch-mlir's op. It has queries, keys and values, perhaps a mask, and what is written; their last two
#: dimensions are the sequence and the head dimension. Scores are divided by the root of the latter. The
#: weights of a query are 0 where the sum of its exponentials is.
ATTENTION = "tm_tensor.attention"

_NO_SCORES = "has scores that are no products of queries and keys"


@dataclass(frozen=True)
class Attention:
    """O = softmax(scale * Q * K^T) * V.

    Attributes:
        first: the op that multiplies queries and keys.
        between: it and the ops behind it, before the one that makes the result.
        o: an element of the result.
        q, k, v: the elements that it is computed from; loops that have no place in `o` are summed over.
        scale: the factor of scores.
        sight: the keys that a query sees.
        is_zero_unseen: whether a query that sees no key has the result 0; else it has none.
    """

    first: Op
    between: frozenset[Op]
    o: Element
    q: Element
    k: Element
    v: Element
    scale: float
    sight: Sight
    is_zero_unseen: bool

    @property
    def op(self) -> Op:
        """The op whose result is computed."""
        return owner(self.o.value)  # type: ignore[return-value]


def attentions_of(op: Op, hidden: Collection[Op]) -> list[Attention]:
    """Return the attention that an op is the last product of: one for its result, and one for each tensor
    that is the result moved or rounded, the last tensor first.

    There is none if the op is no product behind an exponential of another product.

    Args:
        op: the op.
        hidden: ops whose results will be in no memory.

    Raises:
        Unfit: if it is one, but no attention that the kernel computes.
    """
    if op.name == ATTENTION:
        return [_of_op(op, Elements(), hidden)]
    if op.name != GENERIC or len(inputs_of(op)) != 2 or not _is_behind_exponential(op):
        return []
    found: list[Attention] = []
    unfit: list[Unfit] = []
    for value in reversed(_moved(op.results[0])):
        elements = Elements()
        root = elements.element(value, _places(value))
        made = factors(elements, root, through=True)
        product = made.above[0] if len(made.above) == 1 else None
        if not isinstance(product, Reduced) or product.op != op or made.number != 1 or made.guards:
            continue
        try:
            found.append(_of_product(elements, root, product, made.below, hidden))
        except Unfit as reason:
            unfit.append(reason)
    if not found and unfit:
        raise unfit[0]
    return found


def _of_op(op: Op, elements: Elements, hidden: Collection[Op]) -> Attention:
    """Return the attention that torch-mlir's op is."""
    q, k, v, *mask, _ = op.operands
    if len({each.type.rank for each in op.operands}) > 1 or not list(op.results):
        raise Unfit("has operands of different ranks, or memory as its result")
    *batch, row, dim = _places(op.results[0])
    rank = len(batch) + 2
    key = counted(rank, k.type.shape[rank - 2])
    head = q.type.shape[rank - 1]
    if head < 1:
        raise Unfit("has a head dimension of unknown extent")
    shared = counted(rank + 1, head)
    of_q = source_of(elements, elements.element(q, (*batch, row, shared)), "queries", hidden)
    of_k = source_of(elements, elements.element(k, (*batch, key, shared)), "keys", hidden)
    of_v = source_of(elements, elements.element(v, (*batch, key, dim)), "values", hidden, False)
    scale = _positive(head**-0.5 * of_q.number * of_k.number)
    seen: list[Condition] = []
    if mask:
        score = elements.normal(elements.element(mask[0], (*batch, row, key)))
        is_truth = str(mask[0].type.element_type) == "i1"
        seen = [Condition(score, True) if is_truth else seen_by(score, 1)]
    o = elements.element(op.results[0], (*batch, row, dim))
    return Attention(
        op,
        frozenset(),
        o,
        of_q.element,
        of_k.element,
        of_v.element,
        scale,
        sight_of(elements, seen, key),
        _is_infinite(seen),
    )


def _of_product(
    elements: Elements,
    root: Element,
    product: Reduced,
    divisors: list[Node],
    hidden: Collection[Op],
) -> Attention:
    """Return the attention that an element is.

    Args:
        elements: what made the expressions.
        root: the element.
        product: its product of weights and values.
        divisors: what that is divided by.
        hidden: as for `attentions_of`.
    """
    key, terms = summed(elements, product, len(root.at))
    weights = [each for each in terms.above if exponential_of(elements, each) is not None]
    values = [each for each in terms.above if each not in weights]
    if len(weights) != 1 or len(values) != 1 or terms.number != 1:
        raise Unfit("multiplies weights by something else than values")
    of_weights = factors(elements, weights[0], through=True)
    of_weights.below += [*terms.below, *divisors]
    found = softmax(elements, of_weights, key)
    scores = scores_of(found.scores, found.scale)
    shared, terms = summed(elements, scores.product, len(root.at) + 1)
    if len(terms.above) != 2 or terms.below:
        raise Unfit(_NO_SCORES)
    for op in (product.op, scores.product.op):
        if CONFIG in op.attributes:
            raise Unfit(f"has {CONFIG}, the configuration of a product")
    if is_highest(product.op) and any(
        isinstance(each.type.element_type, ir.F32Type) for each in inputs_of(product.op)
    ):
        raise Unfit(f'has {PRECISION} = "{HIGHEST}", but the kernel rounds weights to 16 bits')
    of_q, of_k = (source_of(elements, each, "queries and keys", hidden) for each in terms.above)
    q, k = of_q.element, of_k.element
    v = source_of(elements, values[0], "values", hidden, False).element
    if _has(q, key):
        q, k = k, q
    if not (_has(k, key) and _has(q, shared) and _has(k, shared)) or _has(q, key):
        raise Unfit(_NO_SCORES)
    scale = _positive(scores.scale * terms.number * of_q.number * of_k.number)
    sight = sight_of(elements, scores.seen, key)
    is_zero_unseen = found.is_guarded and _is_infinite(scores.seen)
    first = scores.product.op
    between = _between(first, root.value)
    return Attention(first, between, root, q, k, v, scale, sight, is_zero_unseen)


def _is_infinite(seen: list[Condition]) -> bool:
    """Whether the scores of hidden keys are -inf."""
    return all(each.hidden == -inf for each in seen)


def _positive(scale: float) -> float:
    if not 0 < scale < inf:
        raise Unfit(f"multiplies scores by {scale:g}; the kernel takes a positive number")
    return scale


def _is_behind_exponential(op: Op) -> bool:
    """Whether an op sums products of an exponential of a sum."""
    elements = Elements()
    value = op.results[0] if list(op.results) else None
    product = elements.expanded(elements.element(value, _places(value))) if value else None
    if not isinstance(product, Reduced):
        return False
    try:
        _, terms = summed(elements, product, len(_places(product.op.results[0])))
    except Unfit:
        return False
    exponents = (exponential_of(elements, each) for each in terms.above)
    return any(
        isinstance(each, Reduced)
        and (reduction := elements.reduction(each)) is not None
        and reduction.name == "arith.addf"
        for exponent in exponents
        if exponent is not None
        for each in parts_of(exponent)
    )


def _moved(value: Value) -> list[Value]:
    """Return a tensor, and what element-wise ops and reshapes make of it alone."""
    found = [value]
    while len(uses := list(found[-1].uses)) == 1:
        user = uses[0].owner.operation
        is_elementwise = user.name == GENERIC and not any(is_reduction(user))
        if (user.name not in RESHAPES and not is_elementwise) or len(list(user.results)) != 1:
            break
        found.append(user.results[0])
    return found


def _places(value: Value) -> list[Place]:
    """Return a loop for each dimension of a tensor."""
    return [counted(loop, extent) for loop, extent in enumerate(value.type.shape)]


def _has(element: Element, place: Place) -> bool:
    """Whether the loops of a place index an element."""
    loops = {digit.loop for each in element.at for digit in each}
    return all(digit.loop in loops for digit in place)


def _between(first: Op, result: Value) -> frozenset[Op]:
    """Return the ops from a product on, before the one that makes a result.

    Raises:
        Unfit: if they compute something else, too.
    """
    last = owner(result)
    before: set[Op] = set()
    rest = [last]
    while rest:
        op = rest.pop()
        if op is not None and op not in before:
            before.add(op)
            rest += [owner(value) for value in op.operands]
    after: set[Op] = set()
    rest = [first]
    while rest:
        op = rest.pop()
        if op is None or op in after or op == last:
            continue
        after.add(op)
        for use in (use for value in op.results for use in value.uses):
            user = use.owner.operation
            if user not in before:
                raise Unfit(f"has scores or weights that '{user.name}' uses, too")
            rest.append(user)
    return frozenset(after)
