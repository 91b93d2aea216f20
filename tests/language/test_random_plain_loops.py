"""Random kernels with plain loops compute what the same source computes as Python."""

from random import Random

import numpy as np
import pytest

import fuzz.plain_loops
from fuzz.frame import Wrong
from fuzz.plain_loops import check, draw


@pytest.mark.parametrize("seed", range(6))
def test_a_random_kernel(seed):
    outcome = check(draw(Random(f"plain loops/{seed}")))
    assert outcome.startswith(("is specialized", "has stages", "left alone"))


def test_a_wrong_result_is_seen(monkeypatch):
    computed = fuzz.plain_loops._result_of_kernel

    def with_one_wrong(kernel, options, grid):
        result = computed(kernel, options, grid)
        return np.where(np.arange(result.size).reshape(result.shape) == 0, result + 1, result)

    monkeypatch.setattr(fuzz.plain_loops, "_result_of_kernel", with_one_wrong)
    with pytest.raises(Wrong, match=r"C\[0, 0\] is"):
        check(draw(Random("plain loops/0")))
