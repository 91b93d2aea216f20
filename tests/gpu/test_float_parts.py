"""Parts of floats on the chip, by the ptxas that is there: 13.0 stored integers instead of bits."""

import pytest
from float_parts import PARTS, expected, kernel, operands

import mlir_smem
from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("element, part", PARTS)
def test_the_bits_of_floats_are_stored_in_parts(element, part):
    compiled = mlir_smem.compile(kernel(element, part))
    found = run_on_gpu(compiled, "k", {"X": operands(element)}, ["Y"], (1,))["Y"]
    assert (found == expected(element, part)).all()
