"""Matrices of 4-bit integers, two to a byte."""

import numpy as np
import pytest

from mlir_smem.layout import accumulator_coordinates, pack_nibbles


def test_interleaved_columns_are_those_of_a_thread():
    columns = np.arange(64) % 32
    low, high = columns & 15, columns >> 4
    halves = [pack_nibbles(half[None], interleaved=True)[0] for half in (low, high)]
    nibbles = [np.stack([half & 15, half >> 4], axis=1).reshape(-1) for half in halves]
    stored = (nibbles[0] + 16 * nibbles[1]).reshape(2, 4, 8)
    for q in range(4):
        rows, held = accumulator_coordinates(64, 32)[q].T
        pairs = held[rows == 0].reshape(-1, 2)
        # The left elements of the pairs are in the lower half of the thread's 4 bytes.
        for group in stored:
            assert group[q].tolist() == pairs.T.reshape(-1).tolist()


@pytest.mark.parametrize(
    "matrix, interleaved, message",
    [
        (np.zeros((1, 3), int), False, "has 3 columns; expected a multiple of 2"),
        (np.zeros((1, 48), int), True, "has 48 columns; expected a multiple of 32"),
        (np.full((1, 2), 16), False, "has numbers from 16 to 16; expected -8 to 15"),
        (np.array([[-9, 1]]), False, "has numbers from -9 to 1; expected -8 to 15"),
    ],
)
def test_what_is_not_packed(matrix, interleaved, message):
    with pytest.raises(ValueError, match=message):
        pack_nibbles(matrix, interleaved)
