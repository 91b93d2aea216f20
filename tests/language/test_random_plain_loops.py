"""Random kernels with plain loops compute what the same source computes as Python."""

from random import Random

import pytest

from fuzz.frame import Wrong
from fuzz.plain_loops import check, check_by, draw


@pytest.mark.parametrize("seed", range(6))
def test_a_random_kernel(seed):
    outcome = check(draw(Random(f"plain loops/{seed}")))
    assert outcome.startswith(("is specialized", "has stages", "left alone"))


def test_a_wrong_result_is_seen():
    def run_wrongly(kernel, arrays, grid):
        kernel[grid](*arrays.values(), on="cpu")
        arrays["C"][0, 0] += 1
        return arrays["C"]

    with pytest.raises(Wrong, match=r"C\[0, 0\] is"):
        check_by(draw(Random("plain loops/0")), run_wrongly)
