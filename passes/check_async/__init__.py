"""`smem-check-async`: proves that accesses of tiles are in order, and within their tiles."""

from dataclasses import dataclass

from ...bindings.irtypes import Module
from ...ir.kernel import functions_of
from ..driver.base import Pass
from .check import check

__all__ = ["CheckAsync"]


@dataclass(frozen=True)
class CheckAsync(Pass):
    """Changes nothing. An error is a rule that some run breaks; a remark is a rule that is not proven:

    - What `smem.mma` reads has been written, with `smem.copy_wait`, `smem.fence` and a barrier of the CTA
      in between; for `smem.load`, or `smem.copy` of a tile, without a fence.
    - A copy or store to a tile comes after a barrier that follows every earlier access of it, and before
      that barrier an `smem.wait` for an `smem.mma`, an `smem.copy_wait` for an `smem.copy_async`.
    - Warpgroups that execute one `smem.store` write different bytes.
    - An `smem.tma_store` reads what was written before an `smem.fence` and a barrier. The next write
      comes after the `smem.tma_wait` of the thread that stores, and a barrier; none is incomplete at the
      end.
    - Registers of A that an `smem.mma` in flight reads are not written again, as an op in a loop does.

    Accesses by `memref`, `vector`, `affine` and `gpu` ops to memory that an `smem.view` shows count as
    reads and writes of it, of unknown bytes of their memref. `nvgpu.device_async_copy` is a write by a
    group of `cp.async`. An `nvgpu.tma.async.load` completes at an mbarrier that the kernel itself made;
    such mbarriers are not followed, and a remark at the load says so.

    In a kernel with `smem.create_pipeline` or `smem.warp_specialize`, for each partition on its own:

    - The indices of a pipeline are taken one after the other, each is passed on once (by
      `smem.producer_commit` or `smem.consumer_release`), and no more are held than there are stages. The
      warpgroups of a partition may alternate if waits still distinguish their phases.
    - A stage is accessed while its index is held. When it is passed on, mma and bulk stores that read it
      are waited for, what threads wrote is fenced if the tensor cores or TMA read it, and what they read
      or wrote is fenced if TMA overwrites it.
    - The bytes of an `smem.tma_load` count for the index whose stage it writes.
    - Barriers around an `smem.tma_store` are of the warpgroup that writes. What its warpgroups access
      of each other's bytes is ordered by an `smem.warpgroup_barrier` of all of them.

    For all partitions together: the threads and warpgroups that pass an index on are as many as the
    pipeline counts, every index that is waited for is passed on, each index writes what is read, and no
    partitions wait for each other in a circle: there is a schedule in which all come to their end.
    Warpgroups of a partition that alternate do so in one order on all pipelines. Indices are compared as
    polynomials of sizes, of the iteration counts of `scf.for`, and of sums of what their iterations add
    to a carried index, where that follows from the iteration's number; those computed in other ways
    leave a remark. What `memref.load` reads of an argument is the same for all that read the element, if
    no op of the kernel writes the argument: different arguments are taken to be different arrays, which
    nobody else writes meanwhile.

    The condition of an `llvm.intr.assume` holds wherever its block is executed; the emulator checks it.
    It is an error if assumptions of a block contradict each other.

    The warpgroups that reduce together (`smem.reduce` with `warpgroups`), and all threads of a warpgroup,
    execute the op.

    All threads of a warpgroup execute an arrival at a semaphore. Its result is the same for them; a
    branch on it is followed in partitions, and in CTAs of one warpgroup, unless it holds ops of
    pipelines. The accesses of global memory that the arrival orders are not followed.

    A stage or subtile at a run-time start is within its tile where an op accesses it, an `smem.offset`
    is, and the `rank` of an `smem.load` is one of the cluster. The start is bounded by the block size,
    the grid, the cluster, the iterations of loops, and the conditions around the access. It is an error
    if some run leaves the tile whatever the sizes of the arrays are: at the end of a known range, under
    no condition. A start that depends on an argument of the launch, or on a condition, leaves a remark.

    The two CTAs of a pair (`smem.mma` with `pair`) execute the same mma on the same subtiles of their
    tiles: the values that decide it do not differ between CTAs that are neighbours along x.
    """

    name = "smem-check-async"
    description = "prove that copies, fences, barriers, pipelines and mma are in order and in tiles"

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            check(function)
