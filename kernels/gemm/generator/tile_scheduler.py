"""The persistent tile scheduler: the tiles of C that a CTA computes, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ....dialect.bindings import arith, gpu, ir, scf
from .config import Config


class PersistentTileScheduler:
    """The loop over a CTA's tiles, in the order of rasterization.

    Clusters take tiles in turn; the tiles of a cluster are adjacent. The scheduler visits all columns of
    `group` rows of clusters before the next rows, so clusters that run at the same time share A and B in
    L2.
    """

    def __init__(self, config: Config, m: Any, n: Any) -> None:
        self.config = config
        along_m, along_n = config.cluster
        self._rows = _ceil(m, config.tile[0] * along_m)
        self._columns = _ceil(n, config.tile[1] * along_n)

    @contextmanager
    def tiles(self) -> Iterator[tuple[Any, Any, Callable[[Any], Any]]]:
        """Build the loop. Gives, inside it, the first row and column of the CTA's tile, and a function
        from
        the pipeline indices of a tile to those of all earlier tiles: the tile's first pipeline index."""
        along_m, along_n = self.config.cluster
        block_x = gpu.block_id(gpu.Dimension.x)
        block_y = gpu.block_id(gpu.Dimension.y) if along_n > 1 else None
        cluster = arith.divui(block_x, _index(along_m))
        clusters = arith.divui(gpu.grid_dim(gpu.Dimension.x), _index(along_m))
        rank_m = arith.remui(block_x, _index(along_m))
        total = arith.muli(self._rows, self._columns)
        loop = scf.ForOp(cluster, total, clusters, [_index(0)])
        with ir.InsertionPoint(loop.body):
            number = loop.inner_iter_args[0]
            row, column = self._rasterize(loop.induction_variable)
            row = arith.addi(arith.muli(row, _index(along_m)), rank_m)
            if along_n > 1:
                column = arith.addi(arith.muli(column, _index(along_n)), block_y)
            tile_m, tile_n, _ = self.config.tile
            yield (
                arith.muli(row, _index(tile_m)),
                arith.muli(column, _index(tile_n)),
                lambda indices: arith.muli(number, indices),
            )
            scf.yield_([arith.addi(number, _index(1))])

    def _rasterize(self, number: Any) -> tuple[Any, Any]:
        """Return the row and column, in units of clusters, of the `number`-th tiles of a cluster."""
        group = _index(self.config.group)
        in_group = arith.muli(group, self._columns)
        first = arith.muli(arith.divui(number, in_group), group)
        height = arith.minui(arith.subi(self._rows, first), group)
        within = arith.remui(number, in_group)
        row = arith.addi(first, arith.remui(within, height))
        return row, arith.divui(within, height)


def _ceil(extent: Any, by: int) -> Any:
    return arith.divui(arith.addi(extent, _index(by - 1)), _index(by))


def _index(value: int) -> Any:
    return arith.constant(ir.IndexType.get(), value)
