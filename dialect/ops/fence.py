"""`smem.fence`: orders ordinary accesses of tiles before accesses of tensor cores and TMA."""

from ..build import create
from ..builder import builder
from ..effects import Effects
from ..op import SmemOp


class FenceOp(SmemOp, name="fence"):
    """Orders the thread's ordinary accesses of shared memory before later accesses of the async proxy
    (`fence.proxy.async`).

    Tensor cores and TMA access shared memory through the async proxy (PTX ISA 8.6, "proxies"). Each
    thread that wrote a tile executes the fence; a barrier of the CTA follows, then the mma or the store.
    Before TMA overwrites a stage, each thread that read or wrote it executes the fence, then
    `smem.consumer_release`.
    """

    effects = Effects(fences=True)


@builder
def fence() -> None:
    """Build an `smem.fence`: order ordinary accesses before those of the async proxy.

    Example:
        >>> smem.copy(A, a)
        >>> smem.fence()  # before a barrier and the mma that reads `a`
    """
    create(FenceOp)
