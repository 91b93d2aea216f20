"""Barriers of the cluster in partitions: all reach the same ones, and no pipeline waits across one."""

from __future__ import annotations

from itertools import product

from ....dialect.ops import CreatePipelineOp
from ...order.report import at
from .findings import Findings
from .kernel import Kernel
from .partition import Partition
from .pipeline_sides import PipelineSide, Side
from .state import State


class ClusterBarriers:
    """The barriers of the cluster that the partitions of a kernel reach.

    Args:
        kernel: what was recorded of all partitions.
        findings: receives errors and remarks.
    """

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self._kernel = kernel
        self._findings = findings

    def check(self) -> None:
        """Check the barriers.

        Raises:
            OpError: if one partition reaches more of them than another.
        """
        self._check_number()
        for pipeline in self._kernel.pipelines():
            for filling, emptying in product(*(self._states(pipeline, side) for side in Side)):
                if filling[0] is not emptying[0] and filling[1].epoch == emptying[1].epoch:
                    self._check_drained(pipeline, filling, emptying)

    def _check_number(self) -> None:
        """Check that all partitions reach the same number."""
        numbers = [
            (partition, state.epoch, state.certain)
            for partition, states in self._kernel.recorded.ends.items()
            for state in states
        ]
        if not numbers:
            return
        first, count, certain = numbers[0]
        for partition, other, also_certain in numbers:
            if other != count:
                message = (
                    f"reaches {other} of the cluster's barriers, and the {at(first.op)} reaches {count}; "
                    "put the same number in both"
                )
                self._findings.error(partition.op, message, certain and also_certain)

    def _states(self, pipeline: CreatePipelineOp, side: Side) -> list[tuple[Partition, State]]:
        """Return the states in which those that take a side of a pipeline reach barriers."""
        taken = PipelineSide(pipeline, side)
        return [
            (partition, state)
            for partition, states in self._kernel.recorded.cluster_barriers.items()
            if (partition, taken) in self._kernel.recorded.taken
            for state in states
        ]

    def _check_drained(
        self,
        pipeline: CreatePipelineOp,
        filling: tuple[Partition, State],
        emptying: tuple[Partition, State],
    ) -> None:
        """Check that what was filled before a barrier is emptied before it.

        A partition at the barrier passes on no stage that another one waits for.
        """
        (_, filled), (consumer, emptied) = filling, emptying
        held = filled.held(PipelineSide(pipeline, Side.PRODUCER))
        held += emptied.held(PipelineSide(pipeline, Side.CONSUMER))
        if held or not self._kernel.ranks.are_level(pipeline, filled.epoch):
            reason = (
                f"it is not known whether the {at(consumer.op)} has released all stages that are "
                "committed before a barrier of the cluster"
            )
            self._findings.remark(pipeline, reason)
