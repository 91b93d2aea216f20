"""nvvm: the barrier of a cluster, and addresses in the shared memory of its CTAs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convergent import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..memory import RANK_SHIFT, SHARED
from ..program import Op
from ..registry import executes
from ..warps import whole_warps


@executes("nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed")
def _arrive(op: Op) -> Any:
    releases, aligned = not op.name.endswith("relaxed"), op.has("aligned")

    def step(convergent: ConvergentThreads) -> None:
        if aligned:
            whole_warps(convergent)
        convergent.cta.cluster.barrier.arrive(convergent, releases)

    return step


@executes("nvvm.cluster.wait", waits=True)
def _wait(op: Op) -> Any:
    aligned = op.has("aligned")

    def step(convergent: ConvergentThreads) -> None:
        if aligned:
            whole_warps(convergent)
        convergent.cta.cluster.barrier.wait(convergent)

    return step


@executes("nvvm.mapa")
def _map_address(op: Op) -> Any:
    if op.space != SHARED:
        raise op.refuse("maps an address that is not in shared memory")

    def step(convergent: ConvergentThreads, pointer: Any, rank: Any) -> np.ndarray:
        address, ranks = convergent.checked(pointer), convergent.checked(rank).astype(np.int64)
        ctas = len(convergent.cta.cluster.ctas)
        if (ranks >= ctas).any():
            convergent.cta.report_at(
                convergent,
                ViolationKind.OUT_OF_BOUNDS,
                f"names CTA {ranks.max()} of a cluster of {ctas}",
            )
            raise Stop
        return address + (ranks << RANK_SHIFT)

    return step
