"""The emulator against the chip: the same lowered kernels, the same bytes.

pytest tests/gpu/test_emulator_agrees.py -n 14 --record FILE
"""

from pathlib import Path

import numpy as np
import pipeline_kernel
import pytest
import tma_pipeline
from edge_cases import CASES, kernel_of, operands
from gpu_reference import operand

import mlir_smem
from fuzz.generated.gemms import GemmCase, describe
from mlir_smem.runtime import run_on_cpu, run_on_gpu

EXAMPLE = Path(__file__).parents[2] / "examples" / "matmul.mlir"


def run_both(text, entry, inputs, output, grid=None, **options):
    """Return an output of the emulator and of the chip."""
    lowered = mlir_smem.compile(text, emit="nvvm", **options)
    assembled = mlir_smem.compile(text, **options)
    assert lowered.nvvm == assembled.nvvm
    return (
        run_on_cpu(lowered, entry, inputs, [output], grid)[output],
        run_on_gpu(assembled, entry, inputs, [output], grid)[output],
    )


def assert_same_bytes(emulated, measured, record_property):
    same = np.ascontiguousarray(emulated).view(np.uint8) == np.ascontiguousarray(measured).view(
        np.uint8
    )
    record_property("bytes", same.size)
    record_property("different", int((~same).sum()))
    assert same.all()


@pytest.mark.parametrize("seed", range(700))
def test_a_random_program(seed, record_property):
    program = GemmCase.from_seed(seed)
    record_property("program", describe(program))
    emulated, measured = run_both(
        program.text,
        "product",
        program.inputs(),
        "D",
        program.grid,
        reserved_bytes=program.reserved_bytes,
    )
    assert_same_bytes(emulated, measured, record_property)


@pytest.mark.parametrize("m, n, k", [(128, 256, 64), (256, 256, 256), (384, 512, 1024)])
def test_the_example(m, n, k, record_property):
    inputs = {"A": operand(m, k, "bf16", True, seed=1), "B": operand(k, n, "bf16", True, seed=2)}
    emulated, measured = run_both(EXAMPLE.read_text(), "matmul", inputs, "C")
    assert_same_bytes(emulated, measured, record_property)


def test_partitions_that_hand_over_stages(record_property):
    rows = np.arange(pipeline_kernel.STEPS * pipeline_kernel.LANES, dtype=np.int32).reshape(
        pipeline_kernel.STEPS, pipeline_kernel.LANES
    )
    emulated, measured = run_both(pipeline_kernel.TEXT, "pipeline", {"A": rows}, "D", (1,))
    assert_same_bytes(emulated, measured, record_property)
    assert (measured == rows[:, ::-1]).all()


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_a_pipeline_of_bulk_copies(blocks, record_property):
    a = tma_pipeline.data(blocks, blocks)
    text = tma_pipeline.text(blocks, 2 * blocks)
    emulated, measured = run_both(text, "pipeline", {"A": a}, "D", (2 * blocks,))
    assert_same_bytes(emulated, measured, record_property)
    assert (measured == a).all()


@pytest.mark.parametrize("k", [16, 64])
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_the_arithmetic_of_extremes(element, kind, k, record_property):
    inputs = operands(kind, element, k)
    emulated, measured = run_both(kernel_of(element, k), "product", inputs, "D", (1,))
    assert_same_bytes(emulated, measured, record_property)
