"""Register fragments: each matrix element is in one register, at its position in the ISA's figures."""

import numpy as np
import pytest

from mlir_smem.layout import ELEMENTS, element, fragment_a, fragment_d, instruction_k
from mlir_smem.layout.wgmma import legal_n

THREADS = np.arange(128)[:, None]
WARP, GROUP, IN_GROUP = THREADS // 32, THREADS % 32 // 4, THREADS % 4


def register_counts(fragment, columns):
    """How often each element of a matrix of 64 rows is in a register."""
    return np.bincount((fragment.row * columns + fragment.column).ravel(), minlength=64 * columns)


@pytest.mark.parametrize("element_type", ELEMENTS.values(), ids=str)
def test_a_holds_each_element_once(element_type):
    counts = register_counts(fragment_a(element_type), instruction_k(element_type))
    assert np.array_equal(counts, np.ones(64 * instruction_k(element_type)))


@pytest.mark.parametrize("n", legal_n(element("bf16")))
def test_d_holds_each_element_once(n):
    assert np.array_equal(register_counts(fragment_d(n), n), np.ones(64 * n))


@pytest.mark.parametrize("n", [8, 256])
def test_d_is_as_measured(n):
    i = np.arange(n // 2)[None, :]
    row = 16 * (THREADS // 32) + (THREADS % 32) // 4 + 8 * ((i // 2) % 2)
    column = 2 * (THREADS % 4) + i % 2 + 8 * (i // 4)
    fragment = fragment_d(n)
    assert np.array_equal(fragment.row, row)
    assert np.array_equal(fragment.column, column)


@pytest.mark.parametrize(
    "name, row_plus_8, column",
    [
        # k8: a0 (g, t), a1 (g + 8, t), a2 (g, t + 4), a3 (g + 8, t + 4).
        ("tf32", lambda i: i in (1, 3), lambda t, i: t + 4 * (i >= 2)),
        # k16: pairs along k; a2, a3, a6, a7 are 8 rows below, a4 to a7 are 8 columns to the right.
        ("bf16", lambda i: i in (2, 3, 6, 7), lambda t, i: 2 * t + (i & 1) + 8 * (i >= 4)),
        # k32: fours along k; a4 to a7 and a12 to a15 are 8 rows below, a8 to a15 16 to the right.
        ("s8", lambda i: 4 <= i < 8 or i >= 12, lambda t, i: 4 * t + (i & 3) + 16 * (i >= 8)),
        # k256: 32 bits along k.
        ("b1", lambda i: 32 <= i < 64 or i >= 96, lambda t, i: 32 * t + (i & 31) + 128 * (i >= 64)),
    ],
    ids=["k8", "k16", "k32", "k256"],
)
def test_a_is_as_the_figures_show(name, row_plus_8, column):
    fragment = fragment_a(element(name))
    assert fragment.row.shape == (128, 128 // element(name).bits)
    for i in range(fragment.row.shape[1]):
        assert np.array_equal(fragment.row[:, [i]], 16 * WARP + GROUP + 8 * row_plus_8(i))
        assert np.array_equal(fragment.column[:, [i]], column(IN_GROUP, i))


@pytest.mark.parametrize("element_type", ELEMENTS.values(), ids=str)
def test_a_register_of_a_is_4_bytes_of_one_row(element_type):
    packed = 32 // element_type.bits
    fragment = fragment_a(element_type)
    row = fragment.row.reshape(128, 4, packed)
    column = fragment.column.reshape(128, 4, packed)
    assert np.all(row == row[..., :1])
    assert np.array_equal(column - column[..., :1], np.broadcast_to(np.arange(packed), row.shape))
    assert np.all(column[..., 0] % packed == 0)
