"""Attention: the product of queries and keys, a softmax, and the product of its weights and values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import inf

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from .expression_builder import ExpressionBuilder
from .expressions import Node, ReducedElement, TensorElement, parts_of
from .generic import GENERIC, RESHAPES, inputs_of, is_reduction, owner
from .loop_indices import LoopIndex, loop_index
from .masks import Mask, MaskCondition, match_mask
from .precision import HIGHEST, PRECISION, is_highest
from .schedule import CONFIG
from .scores import match_additive_mask, match_scaled_element, match_scores, match_sum_of_products
from .softmax import exponent_of, factors, match_softmax
from .unsupported import Unsupported

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
        inner_ops: `first` and the ops after it, without the op that computes the result.
        o: an element of the result.
        q, k, v: the elements of which `o` is computed; loops that do not index `o` are summed over.
        scale: the factor of scores.
        mask: the keys that a query sees.
        is_zero_without_keys: whether a query that sees no key has the result 0; else it has none.
        divides_result: whether a sum of products, instead of each weight, is divided.
    """

    first: Op
    inner_ops: frozenset[Op]
    o: TensorElement
    q: TensorElement
    k: TensorElement
    v: TensorElement
    scale: float
    mask: Mask
    is_zero_without_keys: bool
    divides_result: bool = False

    @property
    def op(self) -> Op:
        """The op whose result is computed."""
        return owner(self.o.value)  # type: ignore[return-value]


def match_attention(op: Op, hidden: Collection[Op]) -> list[Attention]:
    """Match attention whose last product is an op.

    There is one match for the op's result, and one for each tensor that is the result moved or rounded;
    the last tensor comes first. There is none unless the op multiplies an exponential of another product.

    Args:
        op: the op.
        hidden: ops whose results will be in no memory.

    Raises:
        Unsupported: for attention that the kernel does not compute.
    """
    if op.name == ATTENTION:
        return [_match_attention_op(op, ExpressionBuilder(), hidden)]
    if op.name != GENERIC or len(inputs_of(op)) != 2 or not _is_behind_exponential(op):
        return []
    attentions: list[Attention] = []
    errors: list[Unsupported] = []
    for value in reversed(_elementwise_chain(op.results[0])):
        builder = ExpressionBuilder()
        root = builder.element(value, _loop_indices(value))
        quotient = factors(builder, root, through=True)
        product = quotient.numerator[0] if len(quotient.numerator) == 1 else None
        if (
            not isinstance(product, ReducedElement)
            or product.op != op
            or quotient.number != 1
            or quotient.guards
        ):
            continue
        try:
            attentions.append(_match_product(builder, root, product, quotient.denominator, hidden))
        except Unsupported as error:
            errors.append(error)
    if not attentions and errors:
        raise errors[0]
    return attentions


def _match_attention_op(op: Op, builder: ExpressionBuilder, hidden: Collection[Op]) -> Attention:
    """Match torch-mlir's op."""
    q, k, v, *masks, _ = op.operands
    if len({value.type.rank for value in op.operands}) > 1 or not list(op.results):
        raise Unsupported("has operands of different ranks, or memory as its result")
    *batch, row, dim = _loop_indices(op.results[0])
    rank = len(batch) + 2
    key = loop_index(rank, k.type.shape[rank - 2])
    head = q.type.shape[rank - 1]
    if head < 1:
        raise Unsupported("has a head dimension of unknown extent")
    shared = loop_index(rank + 1, head)
    scaled_q = match_scaled_element(
        builder, builder.element(q, (*batch, row, shared)), "queries", hidden
    )
    scaled_k = match_scaled_element(
        builder, builder.element(k, (*batch, key, shared)), "keys", hidden
    )
    scaled_v = match_scaled_element(
        builder, builder.element(v, (*batch, key, dim)), "values", hidden, False
    )
    scale = _check_scale(head**-0.5 * scaled_q.number * scaled_k.number)
    conditions: list[MaskCondition] = []
    if masks:
        mask_value = builder.normalize(builder.element(masks[0], (*batch, row, key)))
        is_truth = str(masks[0].type.element_type) == "i1"
        conditions = [
            MaskCondition(mask_value, True) if is_truth else match_additive_mask(mask_value, 1)
        ]
    o = builder.element(op.results[0], (*batch, row, dim))
    return Attention(
        op,
        frozenset(),
        o,
        scaled_q.element,
        scaled_k.element,
        scaled_v.element,
        scale,
        match_mask(builder, conditions, key),
        _hides_by_infinity(conditions),
    )


def _match_product(
    builder: ExpressionBuilder,
    root: TensorElement,
    product: ReducedElement,
    divisors: list[Node],
    hidden: Collection[Op],
) -> Attention:
    """Match `sum(weights * values) / divisors`, an element of the result.

    Args:
        builder: the builder of the expressions.
        root: the element.
        product: the sum of weights times values.
        divisors: what the sum is divided by.
        hidden: as for `match_attention`.
    """
    key, terms = match_sum_of_products(builder, product, len(root.indices))
    weights = [factor for factor in terms.numerator if exponent_of(builder, factor) is not None]
    values = [factor for factor in terms.numerator if factor not in weights]
    if len(weights) != 1 or len(values) != 1 or terms.number != 1:
        raise Unsupported("multiplies weights by something else than values")
    weight_factors = factors(builder, weights[0], through=True)
    weight_factors.denominator += [*terms.denominator, *divisors]
    softmax = match_softmax(builder, weight_factors, key)
    scores = match_scores(softmax.scores, softmax.scale)
    shared, terms = match_sum_of_products(builder, scores.product, len(root.indices) + 1)
    if len(terms.numerator) != 2 or terms.denominator:
        raise Unsupported(_NO_SCORES)
    for op in (product.op, scores.product.op):
        if CONFIG in op.attributes:
            raise Unsupported(f"has {CONFIG}, the configuration of a product")
    if is_highest(product.op) and any(
        isinstance(value.type.element_type, ir.F32Type) for value in inputs_of(product.op)
    ):
        raise Unsupported(
            f'has {PRECISION} = "{HIGHEST}", but the kernel rounds weights to 16 bits'
        )
    scaled_q, scaled_k = (
        match_scaled_element(builder, factor, "queries and keys", hidden)
        for factor in terms.numerator
    )
    q, k = scaled_q.element, scaled_k.element
    v = match_scaled_element(builder, values[0], "values", hidden, False).element
    if _is_indexed_by(q, key):
        q, k = k, q
    if not (
        _is_indexed_by(k, key) and _is_indexed_by(q, shared) and _is_indexed_by(k, shared)
    ) or _is_indexed_by(q, key):
        raise Unsupported(_NO_SCORES)
    scale = _check_scale(scores.scale * terms.number * scaled_q.number * scaled_k.number)
    mask = match_mask(builder, scores.conditions, key)
    is_zero_without_keys = softmax.is_guarded and _hides_by_infinity(scores.conditions)
    first = scores.product.op
    inner_ops = _ops_between(first, root.value)
    return Attention(
        first, inner_ops, root, q, k, v, scale, mask, is_zero_without_keys, bool(divisors)
    )


def _hides_by_infinity(conditions: list[MaskCondition]) -> bool:
    """Whether the scores of masked keys are -inf."""
    return all(condition.masked_score == -inf for condition in conditions)


def _check_scale(scale: float) -> float:
    if not 0 < scale < inf:
        raise Unsupported(f"multiplies scores by {scale:g}; the kernel takes a positive number")
    return scale


def _is_behind_exponential(op: Op) -> bool:
    """Whether an op computes `sum(exp(sum(...)) * ...)`."""
    builder = ExpressionBuilder()
    value = op.results[0] if list(op.results) else None
    product = builder.expand(builder.element(value, _loop_indices(value))) if value else None
    if not isinstance(product, ReducedElement):
        return False
    try:
        _, terms = match_sum_of_products(
            builder, product, len(_loop_indices(product.op.results[0]))
        )
    except Unsupported:
        return False
    exponents = (exponent_of(builder, factor) for factor in terms.numerator)
    return any(
        isinstance(part, ReducedElement)
        and (reduction := builder.reduction(part)) is not None
        and reduction.name == "arith.addf"
        for exponent in exponents
        if exponent is not None
        for part in parts_of(exponent)
    )


def _elementwise_chain(value: Value) -> list[Value]:
    """Return a tensor, and the results of element-wise ops and reshapes that alone use it, in order."""
    chain = [value]
    while len(uses := list(chain[-1].uses)) == 1:
        user = uses[0].owner.operation
        is_elementwise = user.name == GENERIC and not any(is_reduction(user))
        if (user.name not in RESHAPES and not is_elementwise) or len(list(user.results)) != 1:
            break
        chain.append(user.results[0])
    return chain


def _loop_indices(value: Value) -> list[LoopIndex]:
    """Return the index along each dimension of a tensor, with a loop for each."""
    return [loop_index(loop, extent) for loop, extent in enumerate(value.type.shape)]


def _is_indexed_by(element: TensorElement, index: LoopIndex) -> bool:
    """Whether all loops of an index occur in the indices of an element."""
    loops = {digit.loop for tensor_index in element.indices for digit in tensor_index}
    return all(digit.loop in loops for digit in index)


def _ops_between(first: Op, result: Value) -> frozenset[Op]:
    """Return the ops between a product and a result, with the product, without the result's op.

    Raises:
        Unsupported: if other ops use what they compute.
    """
    last = owner(result)
    before: set[Op] = set()
    stack = [last]
    while stack:
        op = stack.pop()
        if op is not None and op not in before:
            before.add(op)
            stack += [owner(value) for value in op.operands]
    after: set[Op] = set()
    stack = [first]
    while stack:
        op = stack.pop()
        if op is None or op in after or op == last:
            continue
        after.add(op)
        for use in (use for value in op.results for use in value.uses):
            user = use.owner.operation
            if user not in before:
                raise Unsupported(f"has scores or weights that '{user.name}' uses, too")
            stack.append(user)
    return frozenset(after)
