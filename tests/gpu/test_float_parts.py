"""Stores of the low bits of floats on the chip, with the installed ptxas: 13.0 stored integers
instead."""

import pytest
from float_parts import PARTS, expected_parts, kernel, operands

import mlir_smem
from mlir_smem.runtime import run_on_gpu


@pytest.mark.parametrize("element, part", PARTS)
def test_the_bits_of_floats_are_stored_in_parts(element, part):
    compiled = mlir_smem.compile(kernel(element, part))
    measured = run_on_gpu(compiled, "k", {"X": operands(element)}, ["Y"], (1,))["Y"]
    assert (measured == expected_parts(element, part)).all()
