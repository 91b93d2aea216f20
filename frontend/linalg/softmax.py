"""The weights of a softmax: exp(s - max(s)) / sum(exp(s - max(s)))."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from .elements import Elements
from .expressions import MAXIMA, Applied, Constant, Element, Node, Reduced, is_cast, is_constant
from .places import Place
from .unfit import Unfit

#: The largest numbers of element types. From half of the smallest one on, a number hides a key as -inf.
_LARGEST = {"bf16": 3.39e38, "f16": 65504.0, "f32": 3.40e38, "f64": 1.79e308}

#: Products of more factors are not looked into.
_MAX_FACTORS = 16

#: The score of a key that is not seen.
_NONE = float("-inf")

#: `arith.cmpf oeq`.
_EQUAL = 1


@dataclass
class Factors:
    """A product of numbers and expressions.

    Attributes:
        number: the product of the numbers.
        above, below: the factors and the divisors that are no numbers.
        guards: conditions under which the product is 0 instead.
    """

    number: float = 1.0
    above: list[Node] = field(default_factory=list)
    below: list[Node] = field(default_factory=list)
    guards: list[Node] = field(default_factory=list)


def factors(elements: Elements, node: Node, through: bool) -> Factors:
    """Return the factors of an expression, casts left out.

    Args:
        elements: what made the expression.
        node: the expression.
        through: whether elements of tensors are expanded; else they are factors.
    """
    found = Factors()
    rest = [(node, False)]
    while rest:
        node, divides = rest.pop()
        inside = elements.expanded(node) if through and isinstance(node, Element) else None
        if inside is not None:
            rest.append((inside, divides))
        elif isinstance(node, Constant) and node.value and isfinite(node.value):
            found.number *= 1 / node.value if divides else node.value
        elif is_cast(node):
            rest.append((node.operands[0], divides))
        elif isinstance(node, Applied) and node.name == "arith.mulf":
            rest += [(each, divides) for each in reversed(node.operands)]
        elif isinstance(node, Applied) and node.name == "arith.divf":
            above, below = node.operands
            rest += [(below, not divides), (above, divides)]
        elif isinstance(node, Applied) and node.name == "arith.negf":
            found.number = -found.number
            rest.append((node.operands[0], divides))
        elif not divides and (guarded := _guarded(node)) is not None:
            found.guards.append(guarded[0])
            rest.append((guarded[1], divides))
        else:
            (found.below if divides else found.above).append(node)
        if len(rest) + len(found.above) + len(found.below) > _MAX_FACTORS:
            return Factors(above=[node, node], below=[node, node])
    return found


def _guarded(node: Node) -> tuple[Node, Node] | None:
    """Return the condition under which an expression is 0, and what it is otherwise."""
    if not isinstance(node, Applied) or node.name != "arith.select":
        return None
    condition, chosen, other = node.operands
    return (condition, other) if is_constant(chosen, 0) else None


def is_lowest(node: Node, type_: str) -> bool:
    """Whether an expression is -inf or about the smallest number of a type."""
    if not isinstance(node, Constant) or type_ not in _LARGEST:
        return False
    return node.value <= -_LARGEST[type_] / 2


def only_loop(loops: Mapping[int, int]) -> tuple[int, int] | None:
    """Return the number and the extent of the one loop that counts further than 1; None if there is not
    one."""
    counting = [(loop, extent) for loop, extent in loops.items() if extent != 1]
    return counting[0] if len(counting) == 1 else None


@dataclass(frozen=True)
class Softmax:
    """Weights along the keys.

    Attributes:
        scores: the score of a key, in the normal form.
        scale: by what it is multiplied.
        is_guarded: whether the weights are 0 where all scores are -inf.
    """

    scores: Node
    scale: float
    is_guarded: bool


def exponential_of(elements: Elements, node: Node) -> Node | None:
    """Return the exponent of the exponential that is a factor of an expression; None if there is none."""
    for each in factors(elements, node, through=True).above:
        if isinstance(each, Applied) and each.name == "math.exp":
            return elements.normal(each.operands[0])
    return None


def softmax(elements: Elements, weights: Factors, keys: Place) -> Softmax:
    """Return the softmax that makes weights.

    Args:
        elements: what made the expressions.
        weights: the factors of the weight of a key: an exponential, divided by a sum.
        keys: the place of the key.

    Raises:
        Unfit: if it is none.
    """
    exponentials = [elements.normal(each) for each in weights.above]
    if len(exponentials) != 1 or weights.number != 1:
        raise Unfit("has weights that are multiplied by something else")
    if not weights.below:
        raise Unfit("has exponentials as weights that no sum divides")
    divisor = elements.normal(weights.below[0])
    if len(weights.below) != 1 or not isinstance(divisor, Reduced):
        raise Unfit("has exponentials as weights that are divided by something else than their sum")
    (exponential,) = exponentials
    if not _is_of_all(elements, divisor, ("arith.addf",), exponential, keys, 0):
        raise Unfit("has weights that are divided by something else than the sum over their keys")
    assert isinstance(exponential, Applied), "exp is an op"
    scores, scale = _shifted(elements, exponential.operands[0], keys)
    for guard in weights.guards:
        if not _is_unseen(elements, elements.normal(guard), scores, keys):
            raise Unfit(
                "has weights that are 0 under another condition than that all scores are -inf"
            )
    return Softmax(scores, scale, bool(weights.guards))


def _shifted(elements: Elements, exponent: Node, keys: Place) -> tuple[Node, float]:
    """Return the scores of which an exponent is the difference to their maximum, times a number; and that
    number."""
    difference = factors(elements, exponent, through=False)
    inside = difference.above[0] if len(difference.above) == 1 else None
    if (
        difference.below
        or difference.number <= 0
        or not isinstance(inside, Applied)
        or inside.name != "arith.subf"
    ):
        raise Unfit("exponentiates scores from which no maximum is subtracted")
    scores, maximum = inside.operands
    if not isinstance(maximum, Reduced) or not _is_of_all(
        elements, maximum, MAXIMA, scores, keys, None
    ):
        raise Unfit(
            "exponentiates scores from which another number than their maximum is subtracted"
        )
    return scores, difference.number


def _is_unseen(elements: Elements, condition: Node, scores: Node, keys: Place) -> bool:
    """Whether a condition is that all scores are -inf."""
    if not isinstance(condition, Reduced):
        return False
    term = _term(elements, condition, ("arith.andi",), keys, 1)
    if not isinstance(term, Applied) or term.name != "arith.cmpf" or term.detail != _EQUAL:
        return False
    left, right = term.operands
    return (left is scores and is_constant(right, _NONE)) or (
        right is scores and is_constant(left, _NONE)
    )


def _is_of_all(
    elements: Elements,
    node: Reduced,
    names: tuple[str, ...],
    term: Node,
    keys: Place,
    initial: float | None,
) -> bool:
    """Whether a node combines an expression of all keys by an op of these names.

    It begins with an initial value; None for -inf or about the smallest number.
    """
    return _term(elements, node, names, keys, initial) is term


def _term(
    elements: Elements, node: Reduced, names: tuple[str, ...], keys: Place, initial: float | None
) -> Node | None:
    """Return the term of a key, in the normal form; None if the reduction is another one."""
    reduction = elements.reduction(node)
    if reduction is None or reduction.name not in names:
        return None
    begin = elements.normal(reduction.initial)
    if initial is None:
        type_ = str(node.op.results[node.number].type.element_type)
        if not is_lowest(begin, type_):
            return None
    elif not is_constant(begin, initial):
        return None
    at = _only(reduction.loops, keys)
    return None if at is None else elements.normal(elements.term(node, at))


def _only(loops: Mapping[int, int], keys: Place) -> dict[int, Place] | None:
    """Return the places in loops of which one counts the keys; None if that is not so."""
    found = only_loop(loops)
    number = keys[0].extent if len(keys) == 1 else 1
    if found is None:
        return None if number != 1 else dict.fromkeys(loops, ())
    loop, extent = found
    return None if extent != number else {**dict.fromkeys(loops, ()), loop: keys}
