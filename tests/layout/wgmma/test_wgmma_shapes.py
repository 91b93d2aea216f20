"""The shapes of wgmma, and how a matrix product is cut into them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import elements

from mlir_smem.layout import element
from mlir_smem.layout.wgmma import legal_n, n_pieces, n_rule


@pytest.mark.parametrize("name", ["f16", "bf16", "tf32", "e4m3", "e5m2"])
def test_floating_point_takes_every_multiple_of_8(name):
    assert legal_n(element(name)) == tuple(range(8, 257, 8))


@pytest.mark.parametrize("name", ["s8", "u8", "b1"])
def test_integers_take_multiples_of_16_above_32(name):
    assert legal_n(element(name)) == (8, 16, 24, 32, *range(48, 257, 16))


@given(elements, st.integers(1, 200).map(lambda n: 8 * n))
def test_every_multiple_of_8_is_cut_into_legal_pieces(element_type, n):
    pieces = n_pieces(element_type, n)
    assert sum(pieces) == n
    assert set(pieces) <= set(legal_n(element_type))


@given(elements, st.integers(1, 1600).filter(lambda n: n % 8))
def test_nothing_else_is_cut(element_type, n):
    assert n_pieces(element_type, n) is None


@given(st.integers(1, 200).map(lambda n: 8 * n))
def test_no_atom_of_a_16_bit_type_is_cut(n):
    pieces = n_pieces(element("bf16"), n)
    assert all(sum(pieces[:i]) % 64 == 0 for i in range(len(pieces)))


@pytest.mark.parametrize(
    "name, n, pieces",
    [
        ("bf16", 256, (256,)),
        ("bf16", 40, (40,)),
        ("bf16", 264, (256, 8)),
        ("bf16", 320, (256, 64)),
        ("bf16", 384, (192, 192)),
        ("bf16", 512, (256, 256)),
        ("s8", 40, (32, 8)),
        ("s8", 56, (48, 8)),
        ("s8", 104, (96, 8)),
    ],
)
def test_cuts(name, n, pieces):
    assert n_pieces(element(name), n) == pieces


@pytest.mark.parametrize("n, nearest", [(4, "8"), (12, "8 or 16"), (300, "296 or 304")])
def test_the_rule_names_the_nearest(n, nearest):
    assert n_rule(n) == f"a multiple of 8, for example {nearest}"
