"""`smem.fence`: between ordinary writes to a tile and the tensor core that reads it."""

from ..build import create
from ..smem import Smem


class FenceOp(Smem.Operation, name="fence"):
    """Makes the thread's ordinary writes to shared memory visible to the async proxy.

    `wgmma` reads shared memory through that proxy (PTX ISA, "proxies"). Each thread that wrote
    executes the fence, then the block's barrier follows, then the mma.
    """


def fence() -> None:
    """Fences ordinary writes against the async proxy."""
    create(FenceOp)
