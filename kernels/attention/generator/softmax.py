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
    """The running maximum and sum of each row.

    Attributes:
        before: the largest score of the blocks that have been weighted.
        maximum: the largest score, with the block that is to be weighted next.
        sums: the sums of the weights, by columns modulo 8.
    """

    before: sl.Fragment
    maximum: sl.Fragment
    sums: sl.Fragment


def first_rows(s: sl.Fragment) -> RowState:
    """Return the state of the rows after the first block of scores, which may all be -inf."""
    rows, _ = s.shape or (0, 0)
    nothing = sl.full((rows,), float("-inf"), sl.f32, axis=1)
    return RowState(nothing, s.max(axis=1), sl.zeros((rows, _OWN_COLUMNS), sl.f32))


def next_rows(s: sl.Fragment, rows: RowState) -> RowState:
    """Return the state with another block of scores, after the blocks before it are weighted."""
    return RowState(rows.maximum, sl.maximum(rows.maximum, s.max(axis=1)), rows.sums)


def weights(
    s: sl.Fragment, scale: sl.Scalar, rows: RowState, power: int = 0
) -> tuple[sl.Fragment, RowState, sl.Fragment]:
    """Return the weights of a block of scores, the rows' new state, and the factor of earlier sums.

    Args:
        s: the scores.
        scale: their factor.
        rows: the state of the rows.
        power: weights are up to 2 ** power.
    """
    shift = _shift(rows.maximum, scale)
    shrink = _exponentials(rows.before, scale, shift)
    p = _exponentials(s, scale, shift - float(power) if power else shift)
    return p, rows._replace(sums=rows.sums * shrink + _partial_sums(p)), shrink


def rescale(o: sl.Fragment, shrink: sl.Fragment) -> sl.Fragment:
    """Multiply each row of the sums of values, as a map of its own: here, and not where it is used."""
    _, columns = o.shape or (0, 0)
    return sl.map(arith.mulf, o, sl.broadcast(shrink, columns))


def rescale_last(o: sl.Fragment, shrink: sl.Fragment) -> sl.Fragment:
    """Multiply each row as `rescale`, for the last block.

    LLVM would merge this multiplication with the loop's, at the loop's begin; so this adds 0.
    """
    _, columns = o.shape or (0, 0)

    def product(x: Any, y: Any) -> Any:
        return math.fma(x, y, arith.constant(sl.f32.type, 0.0))

    return sl.map(product, o, sl.broadcast(shrink, columns), dtype=sl.f32)


def results(
    rows: RowState, scale: sl.Scalar, power: int = 0, factor: sl.Scalar | float = 1.0
) -> tuple[sl.Fragment, sl.Fragment]:
    """Return factor / sum of each row, by which weights * V is multiplied, and the logarithm of the row's
    sum of exponentials: 0 and -inf for a row without keys.

    Args:
        rows: the state of the rows.
        scale, power: as for `weights`.
        factor: the factor of V.
    """
    sums = rows.sums.sum(axis=1)
    has_keys = sums > 0.0
    inverse = sl.where(has_keys, sl.fdiv(factor, sums), 0.0)
    logarithm = sl.log2(sums) - float(power) if power else sl.log2(sums)
    lse = (rows.maximum * scale + logarithm) * _LN2
    return inverse, sl.where(has_keys, lse, float("-inf"))


def mask_scores(s: sl.Fragment, mask: KeyMask) -> sl.Fragment:
    """Return scores, with -inf where a query does not see a key.

    Args:
        s: the scores of a block, a query a row.
        mask: the mask of the first row's query; that of each next query is one key further.
    """
    rows, _ = s.shape or (0, 0)
    several_heads = mask.queries < rows

    def mask_element(score: Any, row: Any, column: Any) -> Any:
        query, key = _to_i32(row), _to_i32(column)
        if several_heads:
            query = arith.remui(query, arith.constant(sl.i32.type, mask.queries))
        # What depends on the row alone is computed once for each row of a thread.
        end = _to_i32(mask.keys.value)
        if mask.end is not None:
            end = arith.minsi(end, arith.addi(_to_i32(mask.end.value), query))
        is_seen = arith.cmpi(_LESS, key, end)
        if mask.begin is not None:
            begin = arith.addi(_to_i32(mask.begin.value), query)
            is_seen = arith.andi(is_seen, arith.cmpi(_NOT_LESS, key, begin))
        if mask.first is not None:
            first = _to_i32(mask.first.value)
            is_seen = arith.andi(is_seen, arith.cmpi(_NOT_LESS, key, first))
        return arith.select(is_seen, score, arith.constant(sl.f32.type, float("-inf")))

    return sl.map(mask_element, s, sl.iota(0), sl.iota(1), dtype=sl.f32)


def _to_i32(index: Any) -> Any:
    """Return an index as an i32, which takes half the instructions."""
    return arith.index_cast(sl.i32.type, index)


def _shift(maximum: sl.Fragment, scale: sl.Scalar) -> sl.Fragment:
    """Return maximum * scale, which is subtracted from scores; 0 if all are -inf: -inf - -inf is NaN."""
    return sl.where(maximum > float("-inf"), maximum * scale, 0.0)


def _exponentials(x: sl.Fragment, scale: sl.Scalar, shift: sl.Fragment) -> sl.Fragment:
    """Return 2^(x * scale - shift), by two instructions; 0 in place of subnormal numbers."""

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
