"""What is chosen for a GEMM kernel: tile, stages, cluster, order; and whether it fits."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from .problem import Problem, multiplicand


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
        store_buffers: tiles of that width, for all warpgroups, that may be under way.
    """

    tile: tuple[int, int, int] = (128, 256, 64)
    stages: int = 4
    cluster: tuple[int, int] = (1, 1)
    consumers: int = 2
    group: int = 16
    store_columns: int = 128
    store_buffers: int = 2

    def grid(self, m: int, n: int, processors: int) -> tuple[int, int]:
        """Blocks along x and y: as many clusters as run at a time, or as there are tiles for.

        Args:
            m, n: rows and columns of the result.
            processors: multiprocessors of the GPU, each of which runs one block.
        """
        along_m, along_n = self.cluster
        tiles = ceil(m / (self.tile[0] * along_m)) * ceil(n / (self.tile[1] * along_n))
        clusters = min(tiles, max(1, processors // (along_m * along_n)))
        return clusters * along_m, along_n


def usual(problem: Problem, m: int, n: int, k: int) -> Config:
    """A good guess for a problem of any size."""
    depth = 128 * 8 // multiplicand(problem.a).bits
    columns = 128 if problem.c in ("bf16", "f16") else 64
    return Config(tile=(128, 256, depth), store_columns=columns)
