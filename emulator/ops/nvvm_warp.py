"""nvvm: `elect.sync` and `bar.warp.sync`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..kernel import Op
from ..lanes import WARP
from ..registry import executes
from ..warps import member_lanes, whole_warps


@executes("nvvm.elect.sync")
def _elect(op: Op) -> Any:
    if op.operand_types:
        raise op.refuse("is for some threads of a warp, which the emulator does not know")

    def step(convergent: ConvergentThreads) -> np.ndarray:
        whole_warps(convergent)
        # Any thread may be elected; the hardware elects the first.
        _, first = np.unique(convergent.lanes.threads // WARP, return_index=True)
        elected = np.zeros(convergent.lanes.count, bool)
        elected[first] = True
        return elected

    return step


@executes("nvvm.bar.warp.sync")
def _barrier(op: Op) -> Any:
    def step(convergent: ConvergentThreads, mask: Any) -> None:
        named = member_lanes(convergent, convergent.check_value(mask))
        if named is None:
            return
        threads = convergent.lanes.threads
        if named.all():
            for warp in convergent.lanes.warps:
                first = int(warp) * WARP + convergent.cta.first_thread
                convergent.cta.clocks.synchronise(np.arange(first, first + WARP))
            return
        # Threads of a warp with the same mask are one group.
        groups = np.column_stack([threads // WARP, named @ (1 << np.arange(WARP))])
        _, group = np.unique(groups, axis=0, return_inverse=True)
        for number in range(int(group.max()) + 1):
            convergent.cta.clocks.synchronise(convergent.threads[group.reshape(-1) == number])

    return step
