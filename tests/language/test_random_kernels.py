"""Random kernels compute what the same source computes as Python (`fuzz/language.py`)."""

from random import Random

import pytest

import fuzz.language
from fuzz.frame import Wrong
from fuzz.language import draw, outcome
from fuzz.traced.source import constructs
from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize("seed", range(16))
def test_a_random_kernel(seed):
    text = draw(Random(f"kernels/{seed}"))
    assert outcome(text) == "computed" or constructs(text)


def test_a_wrong_result_is_seen(monkeypatch):
    def loses_the_last_iteration(*arguments, **options):
        results = run_on_cpu(*arguments, **options)
        return {name: array - 1 for name, array in results.items()}

    monkeypatch.setattr(fuzz.language, "run_on_cpu", loses_the_last_iteration)
    with pytest.raises(Wrong, match="wrong result"):
        outcome("for k0 in sl.range(3):\n    z = bounded(z + 1.0)\n")


def test_a_kernel_that_is_no_python_is_told_apart():
    assert outcome("for k0 in sl.range(3):\n") == "malformed"
    assert outcome("x = sl.load(A).max(axis=5)\n") == "malformed"
