"""Kernels whose partitions wait for each other by pipelines: each partition by itself, and then all together."""

from typing import Any

from ....dialect.diagnostics import remark
from .contents import Contents
from .findings import Findings
from .kernel import Kernel
from .partitions import Partitions
from .totals import Totals


def check_pipelines(function: Any, block: Any) -> None:
    """Checks a function with pipelines or partitions; what is neither proven nor wrong is said in remarks.

    Raises:
        OpError: if it is wrong.
    """
    kernel, findings = Kernel.of(function), Findings()
    Partitions(kernel, findings).follow(kernel.ops.of(block))
    contents = Contents(kernel, findings)
    contents.check_written()
    if not findings.unproven:
        Totals(kernel, findings).check()
        contents.check()
    for op, reason in findings.unproven:
        remark(op.location, f"cannot prove that accesses of tiles are in order: {reason}")
