"""The integers of `smem-check-async`, against all numbers that they stand for."""

from itertools import product
from types import SimpleNamespace

import pytest

from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.ir.kernel import functions_of
from mlir_smem.passes.check_async.analysis import _is_interleaved
from mlir_smem.passes.check_async.describe import PolynomialPrinter
from mlir_smem.passes.check_async.intervals import Interval, Intervals, facts_of
from mlir_smem.passes.check_async.pipelines.circular_waits import _is_in_same_round
from mlir_smem.passes.check_async.pipelines.relative_indices import Event, RoundRobinState
from mlir_smem.passes.check_async.polynomials import SymbolTable, number
from mlir_smem.passes.check_async.ranges import IntegerRange, compute_range, exactly
from mlir_smem.passes.check_async.tile_slices import AxisSlice
from mlir_smem.passes.check_async.values import SymbolicValues, exact_result

SYMBOLS = SymbolTable()
X, Y, Z = (SYMBOLS.symbol((name,), lower_bound=0) for name in "xyz")

#: The predicates of `arith.cmpi`, in the order of its attribute, for natural numbers.
_ORDERS = (int.__lt__, int.__le__, int.__gt__, int.__ge__)
PREDICATES = (int.__eq__, int.__ne__, *_ORDERS, *_ORDERS)


def value(polynomial, x, y):
    return sum(c * x ** s.count(X) * y ** s.count(Y) for s, c in polynomial.terms)


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("predicate", range(10))
def test_facts_of_a_comparison(predicate, holds):
    operands = X.polynomial, Y.polynomial
    more = f"predicate = {predicate} : i64 i1"
    comparison = SYMBOLS.symbol(("arith.cmpi", more, operands), operands)
    facts = facts_of(comparison.polynomial, holds, lambda _: True)
    for x, y in product(range(4), repeat=2):
        follows = all(value(fact, x, y) >= 0 for fact in facts.natural)
        follows &= all(value(fact, x, y) != 0 for fact in facts.nonzero)
        assert follows == (PREDICATES[predicate](x, y) == holds), (x, y)


@pytest.mark.parametrize("predicate", range(6, 10))
def test_nothing_follows_without_sign_from_what_may_be_negative(predicate):
    operands = X.polynomial, Y.polynomial
    more = f"predicate = {predicate} : i64 i1"
    comparison = SYMBOLS.symbol(("arith.cmpi", more, operands), operands)
    assert facts_of(comparison.polynomial, True, lambda _: False) == ((), ())


@pytest.mark.parametrize("start, other", [*product((0, 8, 16, 40), repeat=2)])
def test_extents_of_warpgroups(start, other):
    of_each = X.polynomial * number(64)
    sizes = (16, 48, 64)
    for size, other_size in product(sizes, repeat=2):
        one = AxisSlice(of_each + number(start), size, 256)
        two = AxisSlice(of_each + number(other), other_size, 256)
        disjoint = all(
            64 * x + start + size <= 64 * y + other or 64 * y + other + other_size <= 64 * x + start
            for x, y in product(range(4), repeat=2)
            if x != y
        )
        assert one.is_disjoint_between(two, X) == disjoint


@pytest.mark.parametrize(
    "name, by, multiple, more, expected",
    [
        ("arith.divui", 1, 3, 2, (3, 2)),
        ("arith.remui", 1, 3, 2, (0, 0)),
        ("arith.divui", 4, 8, 3, (2, 0)),
        ("arith.remui", 4, 8, 3, (0, 3)),
        ("arith.ceildivui", 4, 8, 3, (2, 1)),
        ("arith.divui", 4, 6, 0, None),
    ],
)
def test_exact_divisions(name, by, multiple, more, expected):
    """Of multiple * x + more by a number."""
    result = exact_result(name, (X.polynomial * number(multiple) + number(more), number(by)))
    wanted = expected and X.polynomial * number(expected[0]) + number(expected[1])
    assert result == wanted


def dense(low, high, source):
    return IntegerRange(low, high, attained=True, dense=True, sources=frozenset({source}))


@pytest.mark.parametrize("low, high", [(0, 3), (2, 9), (0, 4), (3, 3)])
@pytest.mark.parametrize(
    "name, by", [*product(("arith.remui", "arith.divui", "arith.addi"), (3, 5))]
)
def test_ends_that_are_attained(name, by, low, high):
    result = compute_range(name, [dense(low, high, "x"), exactly(by)])
    compute = {"arith.remui": int.__mod__, "arith.divui": int.__floordiv__}.get(name, int.__add__)
    numbers = {compute(x, by) for x in range(low, high + 1)}
    assert result.is_within(min(numbers), max(numbers)) or not result.attained
    assert result.low <= min(numbers) and max(numbers) <= result.high
    if result.attained:
        assert {result.low, result.high} <= numbers
    if result.dense:
        assert numbers == {*range(min(numbers), max(numbers) + 1)}


def test_ends_that_may_not_be_attained():
    both = dense(0, 3, "x")
    assert not compute_range("arith.minui", [both, both]).attained
    assert not compute_range("arith.divui", [both._replace(attained=False), exactly(2)]).attained


def test_a_shift_is_a_product():
    text = """func.func @f(%n: index) {
      %c3 = arith.constant 3 : index
      %0 = arith.shli %n, %c3 : index
      %1 = arith.shli %n, %n : index
      return
    }"""
    with new_context(), ir.Location.unknown():
        module = parse_module(text)
        (function,) = functions_of(module)
        _, known, unknown, _ = function.regions[0].blocks[0].operations
        values = SymbolicValues(function)
        n = values.polynomial(function.regions[0].blocks[0].arguments[0])
        assert values.polynomial(known.result) == n * number(8)
        assert values.polynomial(unknown.result).symbol.name == "arith.shli"


def test_numbers_follow_from_others_with_the_same_products():
    """x - 2 * y * y is negative if x - y * y is."""
    known, square = Intervals(), Y.polynomial * Y.polynomial
    assert known.assume(X.polynomial - square, Interval(None, -1))
    assert known.bounds_by_others(X.polynomial - square * number(2)).high == -1
    assert known.bounds(X.polynomial - square * number(2)).high is None


@pytest.mark.parametrize(
    "rounds, size, count, ahead, apart",
    [(128, 64, 2, 0, True), (128, 65, 2, 0, False), (128, 64, 3, 0, False), (128, 64, 2, 1, False)],
)
def test_extents_in_rounds_of_warpgroups(rounds, size, count, ahead, apart):
    """In another round each, at 64 * warpgroup + rounds * round."""
    warpgroup_start = X.polynomial * number(64)
    one = AxisSlice(Y.polynomial * number(rounds) + warpgroup_start, size, 1 << 20)
    other = AxisSlice(
        Z.polynomial * number(rounds) + warpgroup_start + number(ahead), size, 1 << 20
    )
    assert _is_interleaved(one, other, X, count) == apart
    assert not _is_interleaved(one, one._replace(start=X.polynomial * X.polynomial), X, count)


def test_what_has_no_name_has_no_words():
    operands = X.polynomial, number(4)
    quotient = SYMBOLS.symbol(("arith.divui", "", operands), operands)
    assert PolynomialPrinter(None, SYMBOLS).text(quotient.polynomial) is None


@pytest.mark.parametrize(
    "acquired, outstanding, fits", [(2, 0, True), (2, 1, False), (1, 0, False)]
)
def test_the_next_turn_begins_when_the_one_before_is_over(acquired, outstanding, fits):
    """One of two warpgroups takes two indices of a pipeline in a turn, behind two of another one."""
    first, second = "first", "second"
    turns = {first: RoundRobinState(2, 0, 0), second: RoundRobinState(2, acquired, outstanding)}
    ahead = {second: acquired - 4}
    partition = SimpleNamespace(warpgroups=2)
    assert _is_in_same_round(Event(partition, None, True, first, ahead, turns), second) == fits
