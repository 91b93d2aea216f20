"""`smem.fence`: between ordinary writes to a tile and the tensor core that reads it."""

from ..build import create
from ..builder import builder
from ..effects import Effects
from ..op import SmemOp


class FenceOp(SmemOp, name="fence"):
    """Makes the thread's ordinary writes to shared memory visible to the async proxy.

    `wgmma` reads shared memory through that proxy (PTX ISA, "proxies"). Each thread that wrote
    executes the fence, then the block's barrier follows, then the mma.
    """

    effects = Effects(fences=True)


@builder
def fence() -> None:
    """Fences ordinary writes against the async proxy."""
    create(FenceOp)
