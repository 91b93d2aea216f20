"""Checks of kernels with pipelines: each partition on its own, then all partitions together."""

from ....dialect.diagnostics import remark
from ....dialect.irtypes import Block, Op
from ...order.report import NOT_PROVEN
from .cluster_barriers import ClusterBarriers
from .findings import Findings
from .kernel import Kernel
from .partitions import Partitions
from .pipeline_counts import PipelineCounts
from .pipeline_use import PipelineUse
from .races import Races


def check_pipelines(function: Op, block: Block) -> None:
    """Check a function with pipelines or partitions; remarks state what is neither proven nor wrong.

    Raises:
        OpError: if some run breaks a rule.
    """
    findings = Findings()
    follow_pipelines(function, block, findings, PipelineUse())
    for op, reason in findings.remarks:
        remark(op.location, f"{NOT_PROVEN}: {reason}")


def follow_pipelines(
    function: Op, block: Block, findings: Findings, use: PipelineUse, furthest: int = 1
) -> None:
    """Find what is wrong or not proven in a function with pipelines or partitions.

    Args:
        function: the function.
        block: its block.
        findings: receives what is found.
        use: how its threads use pipelines; the same for several questions about a function.
        furthest: groups are told apart up to this many groups back, even if no wait leaves as many
            pending.

    Raises:
        OpError: if some run breaks a rule.
    """
    kernel = Kernel.of(function, use)
    kernel.furthest = max(kernel.furthest, furthest)
    Partitions(kernel, findings).follow(kernel.ops.of(block))
    races = Races(kernel, findings)
    races.check_written()
    if not findings.remarks:
        PipelineCounts(kernel, findings).check()
        ClusterBarriers(kernel, findings).check()
        races.check()
