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


@sl.kernel("(64,64), ()")
def to_floats(Y, n):
    key = n.to(sl.index)
    least = (key + sl.iota(1) - sl.iota(0)).to(sl.f32)
    narrow = (3 * sl.iota(1) - 2 * sl.iota(0) - 7).to(sl.f32)
    wide = (sl.iota(1) * 2**26 - key).to(sl.f32)
    sl.store(sl.zeros((64, 64), sl.f32) + least + narrow + wide, Y)


@pytest.mark.parametrize("n", [0, 2**31, 2**43, -(2**40)])
def test_positions_become_the_floats_of_64_bits(n):
    y = np.zeros((64, 64), np.float32)
    to_floats[1](y, np.int64(n), on="cpu")
    terms = (n + COLUMN - ROW, 3 * COLUMN - 2 * ROW - 7, COLUMN * 2**26 - n)
    expected = sum(np.broadcast_to(term, (64, 64)).astype(np.float32) for term in terms)
    np.testing.assert_array_equal(y, expected)
    conversions = re.findall(r"arith\.sitofp .* : (\w+) to f32", to_floats.mlir(sl.f32, sl.i64))
    assert sorted(conversions) == ["i32", "i64", "i64"]


def test_floats_become_indices():
    @sl.kernel("(8,), (8,)")
    def gather(X, Y):
        for i in range(8):
            Y[i] = X[X[i].to(sl.index)]

    x, y = np.array([7, 3, 0.9, 1, 2, 6, 5, 4], np.float32), np.zeros(8, np.float32)
    gather[1](x, y, on="cpu")
    np.testing.assert_array_equal(y, x[x.astype(int)])
