"""nvvm: what the threads of a warp decide together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lanes import WARP
from ..program import Op
from ..registry import executes
from ..strand import Strand


@executes("nvvm.elect.sync")
def _elect(op: Op) -> Any:
    if op.operand_types:
        raise op.refuse("is for some threads of a warp, which the emulator does not know")

    def step(strand: Strand) -> np.ndarray:
        # Any one thread may be elected; the hardware takes the first.
        _, first = np.unique(strand.lanes.threads // WARP, return_index=True)
        elected = np.zeros(strand.lanes.count, bool)
        elected[first] = True
        return elected

    return step
