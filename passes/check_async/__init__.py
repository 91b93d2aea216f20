"""`smem-check-async`: accesses of tiles are proven to be in order."""

from dataclasses import dataclass
from typing import Any

from ...ir.kernel import functions_of
from ..driver.base import Pass
from .check import check

__all__ = ["CheckAsync"]


@dataclass(frozen=True)
class CheckAsync(Pass):
    """Changes nothing. An error is a rule that some run breaks, a remark one that is not decided:

    - what `smem.mma` reads has been written, and `smem.copy_wait`, `smem.fence` and a barrier of the
      block lie between; for `smem.load`, or `smem.copy` of a tile, no fence,
    - nothing is copied or stored to a tile until a barrier has come after what reads or writes it, and
      an `smem.wait` before that for an `smem.mma`, an `smem.copy_wait` for an `smem.copy_async`,
    - warpgroups that execute one `smem.store` write different bytes,
    - registers of A that an `smem.mma` in flight reads are not written again, as an op in a loop does.

    Accesses by `memref`, `vector`, `affine` and `gpu` ops to memory that an `smem.view` shows count as
    reads and writes of it, of bytes that are not known.

    In a kernel with `smem.create_pipeline` or `smem.warp_specialize`, of each partition by itself:

    - the steps of a pipeline are taken one after the other, each is handed on once (by
      `smem.producer_commit` or `smem.consumer_release`), and as many stages are held as there are; the
      warpgroups of a partition may take steps in turns if waits still tell their phases apart,
    - a stage is accessed while its step is held; when it is handed on, mma and bulk stores that read it
      are waited for, what threads wrote is fenced if the tensor cores or TMA read it, and what they
      read or wrote is fenced if TMA overwrites it,
    - the bytes of an `smem.tma_load` count for the step whose stage it writes,
    - an `smem.tma_store` comes after the `smem.fence` and the barrier of the warpgroup that wrote, the
      next write after its `smem.tma_wait` and another barrier, and none is unfinished at the end;

    and of all together: as many threads and warpgroups hand a step on as the pipeline counts, no step is
    waited for that nobody hands on, each step writes what is read, and no partitions wait for each other in a
    circle: where pipelines do not connect them as the edges of a tree do, they take the steps of all at one
    pace, in an order that some clock can follow. Steps are compared as polynomials of sizes and
    of the counts of `scf.for`; what else they are computed from leaves a remark.

    Two blocks that multiply together (`pair`) execute the same products, and take the same parts of
    their tiles: nothing that decides either differs between blocks next to each other along x.
    """

    name = "smem-check-async"
    description = "prove that copies, fences, barriers, pipelines and mma are in order"

    def run(self, module: Any) -> None:
        for function in functions_of(module):
            check(function)
