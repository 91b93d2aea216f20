"""Symbols replaced in polynomials: what several symbols are computed from is replaced once."""

from mlir_smem.passes.check_async.polynomials import Substitution, SymbolTable, number, variable
from mlir_smem.passes.check_async.values import Sums

TABLE = SymbolTable()


def maximum(*operands, name="arith.maxsi"):
    return variable(TABLE.symbol((name, "index", operands), operands))


def chain(first, length):
    """A value with 2^length paths to the first one."""
    for i in range(length):
        first = maximum(first, first + number(i + 1))
    return first


def test_the_paths_to_a_symbol_are_not_counted():
    names = []

    def compute(name, more, operands):
        names.append(name)
        return maximum(*operands, name=name)

    loop = TABLE.symbol(("index",), by="loop")
    result = Substitution(loop, number(7), compute).apply(chain(variable(loop), 100))
    assert len(names) == 100
    assert result == chain(number(7), 100)


def test_a_result_that_is_not_known():
    loop = TABLE.symbol(("index of another",), by="loop")
    unknown = TABLE.symbol(("unknown",), by="loop")
    substitution = Substitution(loop, number(7), lambda *op: maximum(*op[2], name=op[0]))
    assert substitution.apply(chain(variable(loop) + variable(unknown), 3)) is None
    assert substitution.apply(variable(loop) + number(2)) == number(9)
    # What does not change with the symbol stays.
    other = variable(TABLE.symbol(("other",)))
    assert substitution.apply(other) == other


def test_sums_in_sums_have_iterations_of_their_own():
    """However many paths there are to the sum in a term."""

    def substitute(polynomial, symbol, by):
        return Substitution(symbol, by, lambda *op: maximum(*op[2], name=op[0])).apply(polynomial)

    sums = Sums(TABLE, substitute)
    outer, inner = (TABLE.symbol((name,), by=name) for name in ("outer", "inner"))
    triangle = sums.sum_iterations(variable(inner), inner, variable(outer))
    nested = sums.sum_iterations(chain(triangle, 100), outer, variable(outer))
    assert [symbol.signature for symbol in (*triangle.symbols, *nested.symbols)] == ["1", "2"]
    assert sums.sum_iterations(number(0), outer, variable(outer)) is not None
