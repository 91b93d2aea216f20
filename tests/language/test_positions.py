"""Comparisons of positions: 32 bits decide what 64 bits would."""

import operator
import re

import numpy as np
import pytest

import mlir_smem.language as sl

ROW, COLUMN = np.arange(64)[:, None], np.arange(64)[None, :]

RELATIONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def masks(row, column, key, query):
    """Return comparisons of positions, of indices of the kernel or of NumPy."""
    both = [relation(key + column, query + row) for relation in RELATIONS]
    return [
        *both,
        *(relation(column, 17) for relation in RELATIONS),
        *(relation(-row, key - query) for relation in RELATIONS),
        2 * column - row * 3 + key < query + 1,
        (column + row) * 2 == key + key - query,
        column - column + row >= column + 2**40,
        row + column != 5 - (row - column),
        key + 5 <= query - 3,
        column - row + row < key - query,
    ]


@sl.kernel("(64,64), (), (), (64,64)")
def sum_of_masks(X, Key, Query, Y):
    bits = sl.load(X)
    key, query = Key.to(sl.index), Query.to(sl.index)
    for k, mask in enumerate(masks(sl.iota(0), sl.iota(1), key, query)):
        bits = sl.where(mask, bits + 2**k, bits)
    sl.store(bits, Y)


@pytest.mark.parametrize(
    "key, query",
    [
        *((0, 0), (5, 3), (3, 5), (63, 0), (0, 63), (64, 0), (0, 64), (0, 65), (2**40, 2**40 + 9)),
        *((2**31, 0), (0, 2**31), (2**32 + 3, 0), (2**61, 7), (7, 2**61), (-(2**61), 2), (-9, -5)),
    ],
)
def test_every_relation_at_every_distance(key, query):
    x, y = np.zeros((64, 64), np.int32), np.zeros((64, 64), np.int32)
    sum_of_masks[1](x, np.int64(key), np.int64(query), y, on="cpu")
    terms = [
        np.broadcast_to(m, (64, 64)) for m in masks(ROW, COLUMN, np.int64(key), np.int64(query))
    ]
    expected = sum(term.astype(np.int32) << k for k, term in enumerate(terms))
    np.testing.assert_array_equal(y, expected)


def test_no_comparison_of_a_map_has_64_bits():
    @sl.kernel("(64,64), (), (64,64)")
    def mask(X, n, Y):
        first = n.to(sl.index)
        seen = (first + sl.iota(1) <= 64 * sl.block_id(0) + sl.iota(0)) & (sl.iota(1) < first)
        sl.store(sl.where(seen, sl.load(X), 0.0), Y)

    comparisons = re.findall(r"arith\.cmpi .* : (\w+)", mask.mlir(sl.f32, sl.i64, sl.f32))
    assert comparisons == ["i32", "i32"]
