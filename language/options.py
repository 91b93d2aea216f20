"""The options of a kernel: arguments of the decorator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KernelOptions:
    """The options of a kernel: arguments of the decorator.

    Attributes:
        warpgroups: warpgroups of a CTA.
        cluster: CTAs of a cluster along x, y and z; the last may be missing.
        min_blocks: CTAs of a multiprocessor at least (`.minnctapersm`); None for no limit.
        inserts_sync: whether `smem-insert-sync` synchronizes the kernel, and not its author.
        contract: whether a product and a sum may become an fma. Library kernels, whose epilogues are also
            other people's ops, say which are.
        fast: whether functions and `/` are approximations.
    """

    warpgroups: int
    cluster: tuple[int, ...] = (1, 1, 1)
    min_blocks: int | None = None
    inserts_sync: bool = False
    contract: bool = False
    fast: bool = False

    @property
    def cluster_extents(self) -> tuple[int, ...]:
        """The CTAs of a cluster along x, y and z."""
        return (*self.cluster, 1, 1)[:3]
