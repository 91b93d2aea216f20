"""Stages that several copies fill side by side: what is read of them is all written."""

import pytest
from pipeline_mutations import lines_with, run_checker, without_line

import mlir_smem.language as sl
from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.fusion import trace_epilogue
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.passes.check_async.polynomials import number
from mlir_smem.passes.check_async.tile_slices import AxisSlice

FUSION = trace_epilogue(lambda gate, x: gate * x, [], "f32", 2)
CONFIG = Config((64, 64, 64), 2, consumers=1, store_columns=32)


def interval(start, size):
    return AxisSlice(None if start is None else number(start), size, 64)


INTERVALS = [
    ((0, 64), [(32, 32), (0, 32)], True),
    ((0, 64), [(0, 40), (32, 32)], True),
    ((0, 64), [(0, 24), (32, 32)], False),
    ((0, 64), [(0, 32)], False),
    ((16, 32), [(0, 32), (32, 16)], True),
    ((16, 32), [(24, 40)], False),
    ((16, 32), [(16, 32)], True),
    ((32, 32), [(0, 32)], False),
    ((0, 64), [(0, 32), (None, 32)], False),
    ((None, 16), [(0, 32), (32, 32)], True),
    ((None, 16), [(0, 32), (32, 16)], False),
]


@pytest.mark.parametrize(
    "read, others, covered",
    INTERVALS,
    ids=[f"of{i}-others{i}-{covered}" for i, (_, _, covered) in enumerate(INTERVALS)],
)
def test_intervals(read, others, covered):
    assert interval(*read).is_covered([interval(*other) for other in others]) == covered


@pytest.mark.parametrize("b_major", ["k", "n"])
def test_two_loads_fill_a_stage(b_major):
    program = text(Problem(b_major=b_major, fusion=FUSION, gated=True), CONFIG)
    assert run_checker(program).evaluation == "proven"
    loads = lines_with(program, r"smem\.tma_load")
    assert len(loads) == 3
    for load in loads:
        assert run_checker(without_line(program, load)).evaluation != "proven"


def test_two_stores_fill_a_tile():
    """The halves of a tile without a pipeline."""

    def kernel(columns):
        @sl.kernel("(64,64), (64,64)", sync="manual")
        def halves(A, D):  # noqa: N803
            tile = sl.alloc((64, 64), sl.f32)
            with sl.warp_specialize(), sl.partition(1):
                x = sl.load(A)
                sl.store(x[:, 0:32], tile[:, 0:32])
                sl.warpgroup_barrier()
                sl.store(x[:, 32:64], tile[:, columns : columns + 32])
                sl.warpgroup_barrier()
                sl.store(sl.load(tile), D)

        return halves.check(sl.f32, sl.f32)

    assert not kernel(32)
    assert "it is not known whether what it reads" in str(kernel(0))
