"""The softmax of rows whose scores come block by block (Milakov and Gimelshein, 2018)."""

from __future__ import annotations

from typing import Any, NamedTuple

from .... import language as sl
from ....bindings.mlir import arith, math
from .tiles import KeyMask

#: Columns of which a thread has its own in each row: partial sums have as many.
_OWN_COLUMNS = 8

_LESS, _NOT_LESS = arith.CmpIPredicate.slt, arith.CmpIPredicate.sge

_APPROXIMATE = arith.FastMathFlags.afn

_LN2 = 0.6931471805599453


class RowState(NamedTuple):
    """What is known of each row so far.

    Attributes:
        before: the largest score of the blocks that have been weighted.
        maximum: the largest score, with the block that is to be weighted next.
        sums: the sums of the weights, by columns modulo 8.
    """

    before: sl.Fragment
    maximum: sl.Fragment
    sums: sl.Fragment


def first_rows(s: sl.Fragment) -> RowState:
    """Return what the first block of scores says, which may all be -inf."""
    rows, _ = s.shape or (0, 0)
    nothing = sl.full((rows,), float("-inf"), sl.f32, axis=1)
    return RowState(nothing, s.max(axis=1), sl.zeros((rows, _OWN_COLUMNS), sl.f32))


def next_rows(s: sl.Fragment, rows: RowState) -> RowState:
    """Return what is known with another block of scores, when those before have been weighted."""
    return RowState(rows.maximum, sl.maximum(rows.maximum, s.max(axis=1)), rows.sums)


def weights(
    s: sl.Fragment, scale: sl.Scalar, rows: RowState, power: int = 0
) -> tuple[sl.Fragment, RowState, sl.Fragment]:
    """Return the weights of a block of scores, and by what the sums of earlier blocks are multiplied.

    Args:
        s: the scores.
        scale: their factor.
        rows: what is known of each row.
        power: weights are up to 2 ** power.
    """
    shift = _shift(rows.maximum, scale)
    shrink = _exponentials(rows.before, scale, shift)
    p = _exponentials(s, scale, shift - float(power) if power else shift)
    return p, rows._replace(sums=rows.sums * shrink + _partial_sums(p)), shrink


def rescale(o: sl.Fragment, shrink: sl.Fragment) -> sl.Fragment:
    """Return the sums of values, with each row multiplied: here, and not where the product is used."""
    _, columns = o.shape or (0, 0)
    return sl.map(arith.mulf, o, sl.broadcast(shrink, columns))


def rescale_last(o: sl.Fragment, shrink: sl.Fragment) -> sl.Fragment:
    """Return what `multiplied` does, for the last block.

    LLVM would take this multiplication for the loop's, and do both where the loop begins; so this adds 0.
    """
    _, columns = o.shape or (0, 0)

    def product(x: Any, y: Any) -> Any:
        return math.fma(x, y, arith.constant(sl.f32.type, 0.0))

    return sl.map(product, o, sl.broadcast(shrink, columns), dtype=sl.f32)


def results(
    rows: RowState, scale: sl.Scalar, power: int = 0, factor: sl.Scalar | float = 1.0
) -> tuple[sl.Fragment, sl.Fragment]:
    """Return by what each row of weights * V is multiplied, and the logarithm of each row's sum of
    exponentials: 0 and -inf for a row without keys.

    Args:
        rows: what is known of each row.
        scale, power: as for `weights`.
        factor: that of V.
    """
    sums = rows.sums.sum(axis=1)
    some = sums > 0.0
    inverse = sl.where(some, sl.fdiv(factor, sums), 0.0)
    logarithm = sl.log2(sums) - float(power) if power else sl.log2(sums)
    lse = (rows.maximum * scale + logarithm) * _LN2
    return inverse, sl.where(some, lse, float("-inf"))


def mask_scores(s: sl.Fragment, sight: KeyMask) -> sl.Fragment:
    """Return scores, with -inf where a query does not see a key.

    Args:
        s: the scores of a block, a query a row.
        sight: what the query of the first row sees; each next one sees one key further.
    """
    rows, _ = s.shape or (0, 0)
    several_heads = sight.queries < rows

    def seen(score: Any, row: Any, column: Any) -> Any:
        query, key = _number(row), _number(column)
        if several_heads:
            query = arith.remui(query, arith.constant(sl.i32.type, sight.queries))
        # What depends on the row alone is computed once for each row of a thread.
        end = _number(sight.keys.value)
        if sight.end is not None:
            end = arith.minsi(end, arith.addi(_number(sight.end.value), query))
        is_seen = arith.cmpi(_LESS, key, end)
        if sight.begin is not None:
            begin = arith.addi(_number(sight.begin.value), query)
            is_seen = arith.andi(is_seen, arith.cmpi(_NOT_LESS, key, begin))
        if sight.first is not None:
            first = _number(sight.first.value)
            is_seen = arith.andi(is_seen, arith.cmpi(_NOT_LESS, key, first))
        return arith.select(is_seen, score, arith.constant(sl.f32.type, float("-inf")))

    return sl.map(seen, s, sl.iota(0), sl.iota(1), dtype=sl.f32)


def _number(place: Any) -> Any:
    """Return an index as an i32, which takes half the instructions."""
    return arith.index_cast(sl.i32.type, place)


def _shift(maximum: sl.Fragment, scale: sl.Scalar) -> sl.Fragment:
    """Return what is subtracted from scaled scores: 0 where all are -inf, whose difference is NaN."""
    return sl.where(maximum > float("-inf"), maximum * scale, 0.0)


def _exponentials(x: sl.Fragment, scale: sl.Scalar, shift: sl.Fragment) -> sl.Fragment:
    """Return 2^(x * scale - shift), by two instructions; what is too small for a normal number is 0."""

    def power(x: Any, shift: Any) -> Any:
        return math.exp2(math.fma(x, scale.value, shift), fastmath=_APPROXIMATE)

    return sl.map(power, x, -shift, dtype=sl.f32)


def _partial_sums(p: sl.Fragment) -> sl.Fragment:
    """Return the sums that each thread has of its own columns; no threads exchange anything."""
    total = p[:, 0:_OWN_COLUMNS]
    _, columns = p.shape or (0, 0)
    for first in range(_OWN_COLUMNS, columns, _OWN_COLUMNS):
        total = total + p[:, first : first + _OWN_COLUMNS]
    return total
