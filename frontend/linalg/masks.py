"""Masks of scores that compare the indices of a query and a key: causal masks and windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .constant_masks import match_band, match_steps, read_constant
from .expression_builder import ExpressionBuilder
from .expressions import (
    AppliedOp,
    Constant,
    IndexValue,
    Node,
    TensorElement,
    is_cast,
    is_constant,
)
from .loop_indices import LoopIndex
from .unsupported import Unsupported

#: Why a mask is refused.
ARBITRARY = (
    "masks scores by something else than a comparison of the places of a query and a key; the kernel has "
    "causal masks and windows"
)

#: Another reason: a mask, or the numbers that places are compared with.
IN_MEMORY = (
    "masks scores by what is in memory; the kernel has causal masks and windows, which compare the "
    "places of a query and a key"
)

#: Numbers up to this one are added to indices without an overflow.
_FURTHEST = 1 << 30

#: Predicates of `arith.cmpi`, and the predicates of `arith.cmpf` for equality.
_EQ, _NE, _SLT, _SLE, _SGT, _SGE, _ULT, _ULE, _UGT, _UGE = range(10)
_FLOAT_EQ, _FLOAT_NE = (1, 8), (6, 13)

#: Whether the left side is smaller, and whether the sides can be equal.
_ORDERS = {_SLT: (True, False), _SLE: (True, True), _SGT: (False, False), _SGE: (False, True)}
_UNSIGNED = {_ULT: _SLT, _ULE: _SLE, _UGT: _SGT, _UGE: _SGE}


@dataclass(frozen=True)
class MaskCondition:
    """The condition under which a query sees a key.

    Attributes:
        node: a truth value, in the normal form.
        holds: the value of `node` where the query sees the key.
        masked_score: the score of a masked key, or the number that is added to it.
    """

    node: Node
    holds: bool
    masked_score: float = float("-inf")


@dataclass(frozen=True)
class Mask:
    """The keys that a query sees: `row - left <= key <= row + right`.

    Attributes:
        row: the index of the query; None without a mask.
        left, right: numbers of keys; None for all.
    """

    row: LoopIndex | None = None
    left: int | None = None
    right: int | None = None


@dataclass(frozen=True)
class _LinearSum:
    """`sum(coefficient * index) + number`; for a comparison, it holds where the sum is 0 or more."""

    coefficients: dict[LoopIndex, int]
    number: int

    def plus(self, addend: _LinearSum, factor: int = 1) -> _LinearSum:
        coefficients = dict(self.coefficients)
        for index, coefficient in addend.coefficients.items():
            coefficients[index] = coefficients.get(index, 0) + factor * coefficient
        nonzero = {index: coefficient for index, coefficient in coefficients.items() if coefficient}
        return _LinearSum(nonzero, self.number + factor * addend.number)


_ZERO, _ONE = _LinearSum({}, 0), _LinearSum({}, 1)


def match_mask(
    builder: ExpressionBuilder, conditions: Iterable[MaskCondition], key: LoopIndex
) -> Mask:
    """Match conditions with a mask of the kernel.

    Args:
        builder: the builder of the expressions.
        conditions: a query sees a key where all of them hold.
        key: the index of the key.

    Raises:
        Unsupported: for a condition that is no bound of a window.
    """
    mask = Mask()
    for condition in conditions:
        for comparison in _comparisons(builder.normalize(condition.node), condition.holds):
            mask = _narrow(mask, comparison, key)
    return mask


def _narrow(mask: Mask, comparison: _LinearSum, key: LoopIndex) -> Mask:
    """Return the mask where a comparison holds, too."""
    coefficients = dict(comparison.coefficients)
    key_coefficient = coefficients.pop(key, 0) if key else 0
    if abs(key_coefficient) != 1 or any(
        coefficient != -key_coefficient for coefficient in coefficients.values()
    ):
        raise Unsupported(ARBITRARY)
    rows = list(coefficients) or [()]
    if abs(comparison.number) > _FURTHEST:
        raise Unsupported(ARBITRARY)
    if len(rows) > 1 or mask.row not in (None, rows[0]):
        raise Unsupported(ARBITRARY)
    left, right, limit = mask.left, mask.right, comparison.number
    if key_coefficient > 0:
        left = limit if left is None else min(left, limit)
    else:
        right = limit if right is None else min(right, limit)
    return Mask(rows[0], left, right)


def _comparisons(node: Node, holds: bool) -> list[_LinearSum]:
    """Return sums that are all 0 or more exactly if a condition has the value `holds`."""
    if isinstance(node, Constant):
        if bool(node.value) == holds:
            return []
        raise Unsupported("masks all scores")
    if isinstance(node, TensorElement):
        return _of_constant(node, holds)
    if not isinstance(node, AppliedOp):
        raise Unsupported(ARBITRARY)
    if (node.name == "arith.andi" and holds) or (node.name == "arith.ori" and not holds):
        return [
            comparison for operand in node.operands for comparison in _comparisons(operand, holds)
        ]
    if node.name == "arith.xori" and isinstance(node.operands[1], Constant):
        return _comparisons(node.operands[0], holds != bool(node.operands[1].value))
    if (choice := _choice(node)) is not None:
        condition, yes, no = choice
        return _of_choice(condition, bool(yes), bool(no), holds)
    if node.name not in ("arith.cmpi", "arith.cmpf"):
        raise Unsupported(ARBITRARY)
    left, right = node.operands
    choice = _choice(left)
    if choice is not None and isinstance(right, Constant):
        condition, *values = choice
        yes, no = (_is_true(node, value, right.value) for value in values)
        return _of_choice(condition, yes, no, holds)
    if node.name != "arith.cmpi":
        raise Unsupported(ARBITRARY)
    magnitude = _magnitude(left)
    if magnitude is not None and isinstance(right, Constant):
        return _of_magnitude(node, magnitude, int(right.value), holds)
    return [_comparison(node, holds)]


def _of_constant(element: TensorElement, holds: bool) -> list[_LinearSum]:
    """Return the comparisons for a constant matrix of truth values, one for each query and key."""
    constant = read_constant(element)
    if constant is None:
        raise Unsupported(IN_MEMORY)
    if constant[0].dtype != bool:
        raise Unsupported(ARBITRARY)
    allowed, indices = constant[0] == holds, constant[1]
    if allowed.all():
        return []
    band = match_band(allowed) if len(indices) == 2 else None
    if band is None:
        raise Unsupported(ARBITRARY)
    (low, high), (row, column) = band, indices
    # Limits at the corners of the matrix are none.
    comparisons = []
    if low > 1 - allowed.shape[0]:
        comparisons.append(_LinearSum({column: 1, row: -1}, -low))
    if high < allowed.shape[1] - 1:
        comparisons.append(_LinearSum({row: 1, column: -1}, high))
    return comparisons


def _magnitude(node: Node) -> Node | None:
    """Match `|x|`: `math.absi`, or the choice of `x` and `0 - x`; return `x`."""
    if not isinstance(node, AppliedOp):
        return None
    if node.name == "math.absi":
        return node.operands[0]
    if node.name != "arith.select":
        return None
    condition, number, negated = node.operands
    if not (isinstance(condition, AppliedOp) and condition.name == "arith.cmpi"):
        return None
    is_negation = (
        isinstance(negated, AppliedOp)
        and negated.name == "arith.subi"
        and is_constant(negated.operands[0], 0)
        and negated.operands[1] is number
    )
    is_sign = condition.operands[0] is number and is_constant(condition.operands[1], 0)
    is_positive = condition.detail in (_SGE, _SGT)
    return number if is_negation and is_sign and is_positive else None


def _of_magnitude(node: AppliedOp, number: Node, limit: int, holds: bool) -> list[_LinearSum]:
    """Return the comparisons for `|number| <= limit`, or what says the same."""
    order = _ORDERS.get(node.detail)
    if order is None or order[0] != holds:
        raise Unsupported(ARBITRARY)
    # |x| < limit, and not |x| >= limit, are |x| <= limit - 1.
    limit -= order[1] != holds
    total, bound = _sum(number), _LinearSum({}, limit)
    return [bound.plus(total, -1), bound.plus(total)]


def _of_choice(condition: Node, yes: bool, no: bool, holds: bool) -> list[_LinearSum]:
    """Return the comparisons for `select(condition, yes, no) == holds`."""
    if yes == no:
        return _comparisons(Constant(yes), holds)
    return _comparisons(condition, holds == yes)


def _choice(node: Node) -> tuple[Node, float, float] | None:
    """Match `select(condition, yes, no)` of two numbers."""
    if isinstance(node, AppliedOp) and node.name in ("arith.extui", "arith.uitofp"):
        operand = node.operands[0]
        if isinstance(operand, AppliedOp) and operand.type == "i1":
            return operand, 1, 0
    if isinstance(node, AppliedOp) and node.name == "arith.select":
        condition, yes, no = node.operands
        if isinstance(yes, Constant) and isinstance(no, Constant):
            return condition, yes.value, no.value
    return None


def _is_true(comparison: AppliedOp, left: float, right: float) -> bool:
    """Whether a comparison for equality or inequality holds for two numbers."""
    equal, unequal = ((_EQ,), (_NE,)) if comparison.name == "arith.cmpi" else (_FLOAT_EQ, _FLOAT_NE)
    if comparison.detail in equal:
        return left == right
    if comparison.detail in unequal:
        return left != right
    raise Unsupported(ARBITRARY)


def _comparison(node: AppliedOp, holds: bool) -> _LinearSum:
    """Return a sum that is 0 or more exactly if a comparison of integers has the value `holds`."""
    left, right = map(_sum, node.operands)
    predicate = node.detail
    if predicate in _UNSIGNED and all(
        min((0, side.number, *side.coefficients.values())) == 0 for side in (left, right)
    ):
        predicate = _UNSIGNED[predicate]
    if predicate not in _ORDERS:
        raise Unsupported(ARBITRARY)
    is_less, can_be_equal = _ORDERS[predicate]
    difference = right.plus(left, -1) if is_less else left.plus(right, -1)
    if not can_be_equal:
        difference = difference.plus(_ONE, -1)
    return difference if holds else _ZERO.plus(difference, -1).plus(_ONE, -1)


def _sum(node: Node) -> _LinearSum:
    """Match an integer with a linear sum of indices."""
    if isinstance(node, IndexValue):
        return _LinearSum({node.index: 1} if node.index else {}, 0)
    if isinstance(node, Constant) and isinstance(node.value, int):
        return _LinearSum({}, int(node.value))
    if isinstance(node, TensorElement) and (constant := read_constant(node)) is not None:
        steps = match_steps(constant[0])
        if steps is not None:
            (first, step), (index,) = steps, constant[1]
            return _LinearSum({index: step} if step else {}, first)
    if isinstance(node, AppliedOp) and is_cast(node):
        return _sum(node.operands[0])
    if isinstance(node, AppliedOp) and node.name in ("arith.addi", "arith.subi"):
        left, right = map(_sum, node.operands)
        return left.plus(right, 1 if node.name == "arith.addi" else -1)
    is_in_memory = isinstance(node, TensorElement) and read_constant(node) is None
    raise Unsupported(IN_MEMORY if is_in_memory else ARBITRARY)
