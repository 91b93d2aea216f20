"""The sign test: exact tails of the binomial distribution."""

import pytest

from mlir_smem.runtime.tuning.halving import is_below_one


@pytest.mark.parametrize(
    "below, count, tail",
    [(15, 15, 1 / 32768), (13, 15, 121 / 32768), (12, 15, 576 / 32768), (1, 1, 0.5)],
)
def test_the_tail_is_exact(below, count, tail):
    ratios = [0.9] * below + [1.1] * (count - below)
    assert is_below_one(ratios, tail)
    assert not is_below_one(ratios, tail * 0.999)


def test_equal_times_are_not_faster():
    assert not is_below_one([1.0] * 100, 0.01)


def test_no_ratio_proves_nothing():
    assert not is_below_one([], 0.01)
