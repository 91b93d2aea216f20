"""Checks of kernels with pipelines: each partition on its own, then all partitions together."""

from ....dialect.diagnostics import remark
from ....dialect.irtypes import Block, Op
from .findings import Findings
from .kernel import Kernel
from .partitions import Partitions
from .pipeline_counts import PipelineCounts
from .races import Races


def check_pipelines(function: Op, block: Block) -> None:
    """Check a function with pipelines or partitions; remarks state what is neither proven nor wrong.

    Raises:
        OpError: if some run breaks a rule.
    """
    kernel, findings = Kernel.of(function), Findings()
    Partitions(kernel, findings).follow(kernel.ops.of(block))
    races = Races(kernel, findings)
    races.check_written()
    if not findings.remarks:
        PipelineCounts(kernel, findings).check()
        races.check()
    for op, reason in findings.remarks:
        remark(op.location, f"cannot prove that accesses of tiles are in order: {reason}")
