"""nvvm: what the threads of a warp decide together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lanes import WARP
from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..warps import members, whole_warps


@executes("nvvm.elect.sync")
def _elect(op: Op) -> Any:
    if op.operand_types:
        raise op.refuse("is for some threads of a warp, which the emulator does not know")

    def step(strand: Strand) -> np.ndarray:
        whole_warps(strand)
        # Any one thread may be elected; the hardware takes the first.
        _, first = np.unique(strand.lanes.threads // WARP, return_index=True)
        elected = np.zeros(strand.lanes.count, bool)
        elected[first] = True
        return elected

    return step


@executes("nvvm.bar.warp.sync")
def _barrier(op: Op) -> Any:
    def step(strand: Strand, mask: Any) -> None:
        named = members(strand, strand.checked(mask))
        if named is None:
            return
        threads = strand.lanes.threads
        # Threads of one mask of one warp are a group of their own.
        groups = np.column_stack([threads // WARP, named @ (1 << np.arange(WARP))])
        _, group = np.unique(groups, axis=0, return_inverse=True)
        for number in range(int(group.max()) + 1):
            strand.block.order.synchronise(strand.threads[group.reshape(-1) == number])

    return step
