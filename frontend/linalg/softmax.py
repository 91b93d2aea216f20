"""The weights of a softmax: exp(s - max(s)) / sum(exp(s - max(s)))."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, isnan

from .expression_builder import ExpressionBuilder
from .expressions import (
    MAXIMA,
    AppliedOp,
    Constant,
    Node,
    ReducedElement,
    TensorElement,
    is_cast,
    is_constant,
)
from .loop_indices import LoopIndex
from .unsupported import Unsupported

#: The largest numbers of element types. A score of at most half of the smallest number masks a key.
_LARGEST = {"bf16": 3.39e38, "f16": 65504.0, "f32": 3.40e38, "f64": 1.79e308}

#: Products of more factors are not matched.
_MAX_FACTORS = 16

#: The score of a masked key.
_MASKED = float("-inf")

#: `arith.cmpf oeq`.
_EQUAL = 1


@dataclass
class Factors:
    """The product `number * prod(numerator) / prod(denominator)`.

    Attributes:
        number: the product of the constants.
        numerator, denominator: the factors and the divisors that are no constants.
        guards: conditions under which the product is 0 instead.
    """

    number: float = 1.0
    numerator: list[Node] = field(default_factory=list)
    denominator: list[Node] = field(default_factory=list)
    guards: list[Node] = field(default_factory=list)


def factors(builder: ExpressionBuilder, node: Node, through: bool) -> Factors:
    """Return the factors of an expression, casts left out.

    Args:
        builder: the builder of the expression.
        node: the expression.
        through: whether elements of tensors are expanded; else they are factors.
    """
    product = Factors()
    stack = [(node, False)]
    while stack:
        node, divides = stack.pop()
        expansion = builder.expand(node) if through and isinstance(node, TensorElement) else None
        if expansion is not None:
            stack.append((expansion, divides))
        elif isinstance(node, Constant) and node.value and isfinite(node.value):
            product.number *= 1 / node.value if divides else node.value
        elif is_cast(node):
            stack.append((node.operands[0], divides))
        elif isinstance(node, AppliedOp) and node.name == "arith.mulf":
            stack += [(operand, divides) for operand in reversed(node.operands)]
        elif isinstance(node, AppliedOp) and node.name == "arith.divf":
            numerator, denominator = node.operands
            stack += [(denominator, not divides), (numerator, divides)]
        elif isinstance(node, AppliedOp) and node.name == "arith.negf":
            product.number = -product.number
            stack.append((node.operands[0], divides))
        elif not divides and (guard_match := _match_guard(node)) is not None:
            product.guards.append(guard_match[0])
            stack.append((guard_match[1], divides))
        else:
            (product.denominator if divides else product.numerator).append(node)
        if len(stack) + len(product.numerator) + len(product.denominator) > _MAX_FACTORS:
            return Factors(numerator=[node, node], denominator=[node, node])
    return product


def _match_guard(node: Node) -> tuple[Node, Node] | None:
    """Match `select(condition, 0, expression)`; return the condition and the expression."""
    if not isinstance(node, AppliedOp) or node.name != "arith.select":
        return None
    condition, zero, unguarded = node.operands
    return (condition, unguarded) if is_constant(zero, 0) else None


def is_lowest(node: Node, type_: str) -> bool:
    """Whether an expression is -inf or about the smallest number of a type."""
    if not isinstance(node, Constant) or type_ not in _LARGEST:
        return False
    return node.value <= -_LARGEST[type_] / 2


def _is_ignored(initial: Node, name: str) -> bool:
    """Whether an op leaves out an initial value: a maximum that does, a NaN, as in upstream's softmax."""
    return name == "arith.maxnumf" and isinstance(initial, Constant) and isnan(initial.value)


def only_loop(loops: Mapping[int, int]) -> tuple[int, int] | None:
    """Return the number and the extent of the only loop with an extent other than 1, if there is one."""
    counting_loops = [(loop, extent) for loop, extent in loops.items() if extent != 1]
    return counting_loops[0] if len(counting_loops) == 1 else None


@dataclass(frozen=True)
class Softmax:
    """The weights `softmax(scale * scores)` along the keys.

    Attributes:
        scores: the score of a key, in the normal form.
        scale: the factor of scores.
        is_guarded: whether the weights are 0 where all scores are -inf.
    """

    scores: Node
    scale: float
    is_guarded: bool


def exponent_of(builder: ExpressionBuilder, node: Node) -> Node | None:
    """Return `x` if an expression has the factor `exp(x)`."""
    for factor in factors(builder, node, through=True).numerator:
        if isinstance(factor, AppliedOp) and factor.name == "math.exp":
            return builder.normalize(factor.operands[0])
    return None


def match_softmax(builder: ExpressionBuilder, weights: Factors, key: LoopIndex) -> Softmax:
    """Match `exp(scale * (s - max(s))) / sum(exp(scale * (s - max(s))))`.

    Args:
        builder: the builder of the expressions.
        weights: the factors of the weight of a key.
        key: the index of the key.

    Raises:
        Unsupported: for any other weights.
    """
    exponentials = [builder.normalize(factor) for factor in weights.numerator]
    if len(exponentials) != 1 or weights.number != 1:
        raise Unsupported("has weights that are multiplied by something else")
    if not weights.denominator:
        raise Unsupported("has exponentials as weights that no sum divides")
    divisor = builder.normalize(weights.denominator[0])
    if len(weights.denominator) != 1 or not isinstance(divisor, ReducedElement):
        raise Unsupported(
            "has exponentials as weights that are divided by something else than their sum"
        )
    (exponential,) = exponentials
    if not _reduces_to(builder, divisor, ("arith.addf",), exponential, key, 0):
        raise Unsupported(
            "has weights that are divided by something else than the sum over their keys"
        )
    assert isinstance(exponential, AppliedOp), "exp is an op"
    scores, scale = _match_shifted(builder, exponential.operands[0], key)
    for guard in weights.guards:
        if not _is_all_masked(builder, builder.normalize(guard), scores, key):
            raise Unsupported(
                "has weights that are 0 under another condition than that all scores are -inf"
            )
    return Softmax(scores, scale, bool(weights.guards))


def _match_shifted(
    builder: ExpressionBuilder, exponent: Node, key: LoopIndex
) -> tuple[Node, float]:
    """Match `scale * (s - max(s))`; return `s` and `scale`."""
    difference = factors(builder, exponent, through=False)
    subtraction = difference.numerator[0] if len(difference.numerator) == 1 else None
    if (
        difference.denominator
        or difference.number <= 0
        or not isinstance(subtraction, AppliedOp)
        or subtraction.name != "arith.subf"
    ):
        raise Unsupported("exponentiates scores from which no maximum is subtracted")
    scores, maximum = subtraction.operands
    if not isinstance(maximum, ReducedElement) or not _reduces_to(
        builder, maximum, MAXIMA, scores, key, None
    ):
        raise Unsupported(
            "exponentiates scores from which another number than their maximum is subtracted"
        )
    return scores, difference.number


def _is_all_masked(
    builder: ExpressionBuilder, condition: Node, scores: Node, key: LoopIndex
) -> bool:
    """Whether a condition is `all(scores == -inf)`."""
    if not isinstance(condition, ReducedElement):
        return False
    term = _reduction_term(builder, condition, ("arith.andi",), key, 1)
    if not isinstance(term, AppliedOp) or term.name != "arith.cmpf" or term.detail != _EQUAL:
        return False
    left, right = term.operands
    return (left is scores and is_constant(right, _MASKED)) or (
        right is scores and is_constant(left, _MASKED)
    )


def _reduces_to(
    builder: ExpressionBuilder,
    node: ReducedElement,
    names: tuple[str, ...],
    term: Node,
    key: LoopIndex,
    initial: float | None,
) -> bool:
    """Whether a node is the reduction of `term` over all keys by an op of `names`.

    The initial value is `initial`; None for -inf or about the smallest number.
    """
    return _reduction_term(builder, node, names, key, initial) is term


def _reduction_term(
    builder: ExpressionBuilder,
    node: ReducedElement,
    names: tuple[str, ...],
    key: LoopIndex,
    initial: float | None,
) -> Node | None:
    """Return the term of a key, in the normal form; None for a reduction that `_reduces_to` refuses."""
    reduction = builder.reduction(node)
    if reduction is None or reduction.name not in names:
        return None
    initial_node = builder.normalize(reduction.initial)
    if initial is None:
        type_ = str(node.op.results[node.number].type.element_type)
        if not is_lowest(initial_node, type_) and not _is_ignored(initial_node, reduction.name):
            return None
    elif not is_constant(initial_node, initial):
        return None
    indices = _key_indices(reduction.loops, key)
    return None if indices is None else builder.normalize(builder.term(node, indices))


def _key_indices(loops: Mapping[int, int], key: LoopIndex) -> dict[int, LoopIndex] | None:
    """Return the indices of loops, of which only the loop over keys has an extent other than 1."""
    counting_loop = only_loop(loops)
    extent_of_key = key[0].extent if len(key) == 1 else 1
    if counting_loop is None:
        return None if extent_of_key != 1 else dict.fromkeys(loops, ())
    loop, extent = counting_loop
    return None if extent != extent_of_key else {**dict.fromkeys(loops, ()), loop: key}
