"""What is chosen for a GEMM kernel: tile, stages, cluster, order; and whether it fits."""

from __future__ import annotations

from dataclasses import dataclass


class ConfigError(ValueError):
    """A configuration that cannot be; the message has the arithmetic."""


@dataclass(frozen=True)
class Config:
    """A kernel's shape.

    Attributes:
        tile: (M, N, K) of what a block computes at a time, in elements.
        stages: K steps of A and B that shared memory holds.
        cluster: blocks of a cluster along M and N; they share A along N and B along M.
        consumers: warpgroups that multiply; each has an equal part of the tile's rows.
        group: rows of clusters that are worked on together, so that L2 holds what they share.
        store_columns: columns of the result that a warpgroup stores at a time.
        store_buffers: tiles of that width that it may have under way.
    """

    tile: tuple[int, int, int] = (128, 256, 64)
    stages: int = 4
    cluster: tuple[int, int] = (1, 1)
    consumers: int = 2
    group: int = 16
    store_columns: int = 64
    store_buffers: int = 2
