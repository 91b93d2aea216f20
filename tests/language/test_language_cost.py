"""What a trace costs: less than the passes, of which inserting synchronization is one."""

from statistics import median
from time import perf_counter

import pytest

import mlir_smem
import mlir_smem.language as sl
from mlir_smem.bindings import passmanager
from mlir_smem.dialect import new_context
from mlir_smem.examples.manual_sync.matmul import matmul as manual_matmul
from mlir_smem.examples.matmul import matmul

B = sl.bf16


def seconds(kernel):
    """Return the seconds of a trace, and of the passes on its module."""
    with new_context():
        start = perf_counter()
        module = kernel.trace(B, B, B)
        traced = perf_counter()
        pm = passmanager.PassManager("builtin.module")
        mlir_smem.add_passes(pm, "smem-to-nvvm", **kernel.lowering)
        pm.run(module.operation)
        return traced - start, perf_counter() - traced


@pytest.mark.parametrize("kernel", [matmul, manual_matmul], ids=["inserted", "manual"])
def test_a_trace_costs_less_than_the_passes(kernel):
    measured = [seconds(kernel) for _ in range(9)]
    trace, passes = (median(times[i] for times in measured) for i in range(2))
    assert trace < 0.7 * passes
