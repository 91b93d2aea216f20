"""`smem.fence`: between ordinary accesses of a tile and those of the tensor cores and of TMA."""

from ..build import create
from ..builder import builder
from ..effects import Effects
from ..op import SmemOp


class FenceOp(SmemOp, name="fence"):
    """Orders the thread's ordinary accesses of shared memory before later ones of the async proxy.

    `wgmma` and TMA access shared memory through that proxy (PTX ISA, "proxies"). Each thread that wrote
    executes the fence, then the block's barrier follows, then the mma or the store. Before TMA
    overwrites a stage, each thread that read or wrote it executes the fence, then
    `smem.consumer_release`.
    """

    effects = Effects(fences=True)


@builder
def fence() -> None:
    """Orders ordinary accesses before those of the async proxy."""
    create(FenceOp)
