"""nvvm: the barrier of a cluster, and addresses in the shared memory of its blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Kind, Stop
from ..memory import RANK_SHIFT, SHARED
from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..types import space_of
from ..warps import whole_warps


@executes("nvvm.cluster.arrive", "nvvm.cluster.arrive.relaxed")
def _arrive(op: Op) -> Any:
    releases, aligned = not op.name.endswith("relaxed"), op.has("aligned")

    def step(strand: Strand) -> None:
        if aligned:
            whole_warps(strand)
        strand.block.cluster.barrier.arrive(strand, releases)

    return step


@executes("nvvm.cluster.wait", waits=True)
def _wait(op: Op) -> Any:
    aligned = op.has("aligned")

    def step(strand: Strand) -> None:
        if aligned:
            whole_warps(strand)
        strand.block.cluster.barrier.wait(strand)

    return step


@executes("nvvm.mapa")
def _map_address(op: Op) -> Any:
    if space_of(str(op.operand_types[0])) != SHARED:
        raise op.refuse("maps another address than one of shared memory")

    def step(strand: Strand, pointer: Any, rank: Any) -> np.ndarray:
        address, ranks = strand.checked(pointer), strand.checked(rank).astype(np.int64)
        blocks = len(strand.block.cluster.blocks)
        if (ranks >= blocks).any():
            strand.block.report_at(
                strand,
                Kind.OUT_OF_BOUNDS,
                f"names block {ranks.max()} of a cluster of {blocks}",
            )
            raise Stop
        return address + (ranks << RANK_SHIFT)

    return step
