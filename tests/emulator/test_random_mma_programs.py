"""Random matrix products, lowered and run by the emulator, against float64."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

import mlir_smem
from fuzz.generated.gemms import GemmCase
from mlir_smem.runtime import run_on_cpu


@st.composite
def programs(draw):
    """Random programs that fit into shared memory."""
    program = GemmCase.draw(lambda name, items: draw(st.sampled_from(items), label=name))
    assume(program.fits)
    return program


def check(program):
    lowered = mlir_smem.compile(program.text, emit="nvvm", reserved_bytes=program.reserved_bytes)
    inputs = program.inputs()
    result = run_on_cpu(lowered, "product", inputs, ["D"], program.grid)["D"]
    exact, bound = program.product(inputs)
    error = np.abs(result.astype(np.float64) - exact)
    assert (error <= bound).all(), f"the error is {np.max(error / bound):.3g} times the bound"


@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much])
@given(programs())
def test_random_programs_compute_their_product(program):
    note(program.text)
    check(program)


@pytest.mark.parametrize("seed", range(20))
def test_programs_that_the_gpu_tests_run(seed):
    # The GPU tests compare the emulator with the chip on programs of these seeds, and of many more.
    check(GemmCase.from_seed(seed))
