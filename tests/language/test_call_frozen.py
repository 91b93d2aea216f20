"""Snapshots of values: equal only where a trace cannot tell the values apart."""

import enum
import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.language.freeze import freeze, is_constant


class Plain:
    def __init__(self, rows):
        self.rows = rows


class Slotted:
    __slots__ = ("rows",)

    def __init__(self, rows):
        self.rows = rows


class Named(list):
    """A list with attributes."""


@dataclass(frozen=True)
class Tiles:
    rows: object
    columns: int = 64


class Kind(enum.Enum):
    A = 1
    B = 2


Pair = namedtuple("Pair", "x y")


def make_named(name, *values):
    instance = Named(values)
    instance.name = name
    return instance


def cycle(size):
    cyclic = [size]
    cyclic.append(cyclic)
    return cyclic


#: Pairs of values that are equal or alike in Python, and not the same for a trace.
DIFFERENT = [
    (1, True),
    (1, 1.0),
    (0.0, -0.0),
    ((1, 2), (True, 2)),
    ([1], (1,)),
    ([1], [1.0]),
    ({"a": 1}, {"a": True}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, OrderedDict(a=1)),
    ({1}, frozenset({1})),
    (Pair(1, 2), (1, 2)),
    (np.float32(1), np.float64(1)),
    (np.zeros(2, "f4"), np.zeros(2, "i4")),
    (np.zeros((2, 1)), np.zeros((1, 2))),
    (np.array([0.0]), np.array([-0.0])),
    (ml_dtypes.bfloat16(1), ml_dtypes.bfloat16(2)),
    (Plain(1), Plain(2)),
    (Slotted(1), Slotted(True)),
    (Slotted(1), Plain(1)),
    (Tiles([1]), Tiles([2])),
    (make_named("a", 1), make_named("b", 1)),
    (cycle(1), cycle(2)),
    (Kind.A, Kind.B),
    (math.sin, math.cos),
    (int, float),
    (object(), object()),
    (Plain(1).__init__, Plain(2).__init__),
    ("1", b"1"),
    (0j, -0j),
]

#: Functions that make equal values.
SAME = [
    lambda: 7,
    lambda: math.nan,
    lambda: (1, "x", None, 2.5),
    lambda: [1, [2, {"a": (3,)}], {4, 5}],
    lambda: {"a": np.arange(4)},
    lambda: Plain([1, 2]),
    lambda: Slotted({"a": 1}),
    lambda: Tiles([1]),
    lambda: make_named("a", 1, 2),
    lambda: cycle(3),
    lambda: Pair(1, 2),
    lambda: Kind.A,
    lambda: bytearray(b"ab"),
    lambda: np.float16(2),
]


@pytest.mark.parametrize("one, other", DIFFERENT, ids=range(len(DIFFERENT)))
def test_values_that_a_trace_tells_apart(one, other):
    assert freeze(one) != freeze(other)
    assert freeze(one) == freeze(one)


@pytest.mark.parametrize("make", SAME)
def test_values_that_are_the_same(make):
    assert freeze(make()) == freeze(make())
    hash(freeze(make()))


def test_a_snapshot_does_not_change_with_the_value():
    value = {"tiles": [64, 128], "more": Plain([1])}
    before = freeze(value)
    value["more"].rows.append(2)
    assert freeze(value) != before
    value["more"].rows.pop()
    assert freeze(value) == before


@pytest.mark.parametrize(
    "value, constant",
    [
        (1, True),
        ((1, (2.0, "x")), True),
        (Kind.A, True),
        (Tiles(1), True),
        (np.float32(1), True),
        (math, True),
        (len, True),
        (Plain, True),
        ((1, [2]), False),
        (Tiles([1]), False),
        (Pair(1, 2), False),
        ([], False),
        (Plain(1), False),
        (np.zeros(1), False),
    ],
)
def test_constants(value, constant):
    assert is_constant(value) is constant
