"""Checks of kernels with pipelines: each partition on its own, then all partitions together."""

from ....bindings.diagnostics import remark
from ....bindings.irtypes import Block, Op
from ...order.report import NOT_PROVEN
from .findings import Findings
from .kernel import KernelAnalysis
from .pipeline_counts import ClusterBarriers, PipelineCounts
from .races import Races
from .walker import KernelWalker


def check_pipelines(function: Op, block: Block) -> None:
    """Check a function with pipelines or partitions; remarks state what is neither proven nor wrong.

    Raises:
        OpError: if some run breaks a rule.
    """
    findings = Findings()
    follow_pipelines(KernelAnalysis(function, block), findings)
    for op, reason in findings.remarks:
        remark(op.location, f"{NOT_PROVEN}: {reason}")


def follow_pipelines(kernel: KernelAnalysis, findings: Findings) -> None:
    """Add what is wrong or not proven in a function with pipelines or partitions to `findings`.

    Raises:
        OpError: if a finding ends the search.
    """
    kernel.reset()
    KernelWalker(kernel, findings).follow(kernel.ops.ops_in(kernel.block))
    races = Races(kernel, findings)
    races.check_written()
    if not findings.remarks:
        PipelineCounts(kernel, findings).check()
        ClusterBarriers(kernel, findings).check()
        races.check()
