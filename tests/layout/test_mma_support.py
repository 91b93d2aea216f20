"""Types that are multiplied together, and how N is cut for them (PTX ISA 9.7.15.2 and 9.7.15.5.2)."""

import pytest

from mlir_smem.layout import ACCUMULATORS, TYPE_PAIRS, accumulators, element, partners
from mlir_smem.layout.wgmma import MULTIPLICANDS, legal_n


def names(element_types):
    return [element_type.name for element_type in element_types]


EXPECTED_ACCUMULATORS = [
    ("f16", "f16", ["f32", "f16"]),
    ("bf16", "bf16", ["f32"]),
    ("tf32", "tf32", ["f32"]),
    ("e4m3", "e5m2", ["f32", "f16"]),
    ("e5m2", "e5m2", ["f32", "f16"]),
    ("s8", "u8", ["s32"]),
    ("u8", "u8", ["s32"]),
    ("b1", "b1", ["s32"]),
    ("f16", "bf16", []),
    ("s8", "e4m3", []),
    ("b1", "s8", []),
]


@pytest.mark.parametrize(
    "a, b, expected",
    EXPECTED_ACCUMULATORS,
    ids=[f"{a}-{b}-found{i}" for i, (a, b, _) in enumerate(EXPECTED_ACCUMULATORS)],
)
def test_the_accumulators_of_a_pair(a, b, expected):
    assert names(accumulators(element(a), element(b))) == expected


def test_every_type_is_multiplied_by_some():
    assert {a for a, _ in TYPE_PAIRS} == {b for _, b in TYPE_PAIRS} == set(MULTIPLICANDS)
    assert len(TYPE_PAIRS) == 4 + 4 + 4
    assert names(partners(element("u8"))) == ["s8", "u8"]


def test_types_that_are_multiplied_have_one_width():
    assert all(a.bits == b.bits for a, b in TYPE_PAIRS)


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_any_multiple_of_8_columns_is_cut_into_legal_instructions(name):
    accumulator = ACCUMULATORS[name]
    legal = legal_n(element("s8" if accumulator.integer else "f16"))
    for n in range(8, 1025, 8):
        pieces = accumulator.pieces(n)
        assert pieces is not None
        assert sum(pieces) == n
        assert set(pieces) <= set(legal)
        # One instruction where there is one.
        assert (len(pieces) == 1) == (n in legal)


@pytest.mark.parametrize("n", [0, 4, 12, -8])
def test_other_columns_are_not(n):
    assert all(accumulator.pieces(n) is None for accumulator in ACCUMULATORS.values())
