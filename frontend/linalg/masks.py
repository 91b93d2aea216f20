"""Masks of scores that compare the places of a query and a key: causal ones, and windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .elements import Elements
from .expressions import Applied, Constant, Index, Node, is_cast
from .places import Place
from .unfit import Unfit

#: Why a mask is refused.
ARBITRARY = (
    "masks scores by something else than a comparison of the places of a query and a key; the kernel has "
    "causal masks and windows"
)

#: Numbers up to this one are added to places without an overflow.
_FURTHEST = 1 << 30

#: Predicates of `arith.cmpi`, and those of `arith.cmpf` on numbers that are known.
_EQ, _NE, _SLT, _SLE, _SGT, _SGE, _ULT, _ULE, _UGT, _UGE = range(10)
_FLOAT_EQ, _FLOAT_NE = (1, 8), (6, 13)

#: Whether the left side is the smaller one, and whether both can be equal.
_ORDERS = {_SLT: (True, False), _SLE: (True, True), _SGT: (False, False), _SGE: (False, True)}
_UNSIGNED = {_ULT: _SLT, _ULE: _SLE, _UGT: _SGT, _UGE: _SGE}


@dataclass(frozen=True)
class Condition:
    """When a query sees a key.

    Attributes:
        node: a truth value, in the normal form.
        holds: whether the query sees the key where it is true; else where it is false.
        hidden: the score of a key that is not seen, or what is added to it.
    """

    node: Node
    holds: bool
    hidden: float = float("-inf")


@dataclass(frozen=True)
class Sight:
    """The keys that a query sees: those at row - left to row + right.

    Attributes:
        row: the place of the query; None where no mask tells it.
        left, right: numbers of keys; None for all.
    """

    row: Place | None = None
    left: int | None = None
    right: int | None = None


@dataclass(frozen=True)
class _Sum:
    """A sum of multiples of places, and of a number; of a comparison, it is 0 or more."""

    multiples: dict[Place, int]
    number: int

    def plus(self, other: _Sum, times: int = 1) -> _Sum:
        multiples = dict(self.multiples)
        for place, count in other.multiples.items():
            multiples[place] = multiples.get(place, 0) + times * count
        kept = {place: count for place, count in multiples.items() if count}
        return _Sum(kept, self.number + times * other.number)


_NOTHING, _ONE = _Sum({}, 0), _Sum({}, 1)


def sight_of(elements: Elements, seen: Iterable[Condition], keys: Place) -> Sight:
    """Return what queries see.

    Args:
        elements: what made the expressions.
        seen: conditions under which a query sees a key.
        keys: the place of the key.

    Raises:
        Unfit: for a condition that no window has.
    """
    sight = Sight()
    for condition in seen:
        for each in _comparisons(elements.normal(condition.node), condition.holds):
            sight = _narrowed(sight, each, keys)
    return sight


def _narrowed(sight: Sight, comparison: _Sum, keys: Place) -> Sight:
    """Return what queries see where a comparison holds, too."""
    multiples = dict(comparison.multiples)
    of_key = multiples.pop(keys, 0) if keys else 0
    if abs(of_key) != 1 or any(count != -of_key for count in multiples.values()):
        raise Unfit(ARBITRARY)
    rows = list(multiples) or [()]
    if abs(comparison.number) > _FURTHEST:
        raise Unfit(ARBITRARY)
    if len(rows) > 1 or sight.row not in (None, rows[0]):
        raise Unfit(ARBITRARY)
    left, right, most = sight.left, sight.right, comparison.number
    if of_key > 0:
        left = most if left is None else min(left, most)
    else:
        right = most if right is None else min(right, most)
    return Sight(rows[0], left, right)


def _comparisons(node: Node, holds: bool) -> list[_Sum]:
    """Return sums that all are 0 or more exactly if a condition holds, or does not."""
    if isinstance(node, Constant):
        if bool(node.value) == holds:
            return []
        raise Unfit("masks all scores")
    if not isinstance(node, Applied):
        raise Unfit(ARBITRARY)
    if (node.name == "arith.andi" and holds) or (node.name == "arith.ori" and not holds):
        return [each for operand in node.operands for each in _comparisons(operand, holds)]
    if node.name == "arith.xori" and isinstance(node.operands[1], Constant):
        return _comparisons(node.operands[0], holds != bool(node.operands[1].value))
    if (chosen := _choice(node)) is not None:
        condition, yes, no = chosen
        return _of_choice(condition, bool(yes), bool(no), holds)
    if node.name not in ("arith.cmpi", "arith.cmpf"):
        raise Unfit(ARBITRARY)
    left, right = node.operands
    chosen = _choice(left)
    if chosen is not None and isinstance(right, Constant):
        condition, *values = chosen
        yes, no = (_is_true(node, value, right.value) for value in values)
        return _of_choice(condition, yes, no, holds)
    if node.name != "arith.cmpi":
        raise Unfit(ARBITRARY)
    return [_comparison(node, holds)]


def _of_choice(condition: Node, yes: bool, no: bool, holds: bool) -> list[_Sum]:
    """Return the comparisons of what is `yes` where a condition holds, and else `no`."""
    if yes == no:
        return _comparisons(Constant(yes), holds)
    return _comparisons(condition, holds == yes)


def _choice(node: Node) -> tuple[Node, float, float] | None:
    """Return a condition, and the numbers that an expression is where it holds and where it does not."""
    if isinstance(node, Applied) and node.name in ("arith.extui", "arith.uitofp"):
        inside = node.operands[0]
        if isinstance(inside, Applied) and inside.type == "i1":
            return inside, 1, 0
    if isinstance(node, Applied) and node.name == "arith.select":
        condition, yes, no = node.operands
        if isinstance(yes, Constant) and isinstance(no, Constant):
            return condition, yes.value, no.value
    return None


def _is_true(comparison: Applied, left: float, right: float) -> bool:
    """Whether a comparison for equality holds of numbers."""
    equal, unequal = ((_EQ,), (_NE,)) if comparison.name == "arith.cmpi" else (_FLOAT_EQ, _FLOAT_NE)
    if comparison.detail in equal:
        return left == right
    if comparison.detail in unequal:
        return left != right
    raise Unfit(ARBITRARY)


def _comparison(node: Applied, holds: bool) -> _Sum:
    """Return a sum that is 0 or more exactly if a comparison of integers holds, or does not."""
    left, right = map(_sum, node.operands)
    predicate = node.detail
    if predicate in _UNSIGNED and all(
        min((0, each.number, *each.multiples.values())) == 0 for each in (left, right)
    ):
        predicate = _UNSIGNED[predicate]
    if predicate not in _ORDERS:
        raise Unfit(ARBITRARY)
    is_less, can_be_equal = _ORDERS[predicate]
    difference = right.plus(left, -1) if is_less else left.plus(right, -1)
    if not can_be_equal:
        difference = difference.plus(_ONE, -1)
    return difference if holds else _NOTHING.plus(difference, -1).plus(_ONE, -1)


def _sum(node: Node) -> _Sum:
    """Return an integer as a sum of places."""
    if isinstance(node, Index):
        return _Sum({node.place: 1} if node.place else {}, 0)
    if isinstance(node, Constant) and isinstance(node.value, int):
        return _Sum({}, int(node.value))
    if isinstance(node, Applied) and is_cast(node):
        return _sum(node.operands[0])
    if isinstance(node, Applied) and node.name in ("arith.addi", "arith.subi"):
        left, right = map(_sum, node.operands)
        return left.plus(right, 1 if node.name == "arith.addi" else -1)
    raise Unfit(ARBITRARY)
