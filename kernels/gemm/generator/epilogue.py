"""Epilogues: consumers write the result to shared memory, from which TMA stores it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .... import language as sl
from .config import Config
from .problem import Problem
from .tile_scheduler import TileScheduler, WorkTile
from .workspace import Workspace


class _Elements:
    """The elements of the results: those of A * B, or what the problem's epilogue makes of them.

    Args:
        arrays, problem, config: as for the epilogues.
    """

    def __init__(self, arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
        self._arrays, self._config = arrays, config
        self._fusion, self._products = problem.fusion, problem.products

    def of(
        self,
        columns: Callable[[int, int], sl.Fragment],
        work: WorkTile,
        warpgroup: sl.Index,
        part: int,
    ) -> list[sl.Fragment]:
        """Return the results' elements in an epilogue tile of a warpgroup's rows.

        Args:
            columns: returns columns of the products, by the first and their number.
            work, warpgroup: whose rows.
            part: the number of the epilogue tile in the rows.
        """
        width = self._config.store_columns
        starts = range(part * width, self._products * self._config.tile[1], self._config.tile[1])
        products = [columns(start, width) for start in starts]
        if self._fusion is None:
            return products
        config = self._config
        row = work.row + warpgroup * (config.tile[0] // config.consumers)
        place = row, work.column + part * config.store_columns
        extents = self._arrays["C"].shape[-2:]
        return self._fusion.apply(products, self._arrays, place, extents, config.exchanged)


def _results(arrays: Mapping[str, Any], problem: Problem) -> list[sl.Array]:
    return [arrays[name] for name in ("C", "D")[: len(problem.results)]]


def _columns_of(acc: sl.Fragment) -> Callable[[int, int], sl.Fragment]:
    return lambda first, count: acc[:, first : first + count]


class StoringThread:
    """An epilogue whose stores run while the consumers multiply the next tile.

    Args:
        arrays: the results C and D (..., M, N), and the operands of the problem's epilogue.
        problem: the kernel's.
        config: the configuration.
    """

    def __init__(self, arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
        self._results = _results(arrays, problem)
        self._config, self._elements = config, _Elements(arrays, problem, config)
        self._rows, self._columns = config.tile[0] // config.consumers, config.store_columns
        self._parts = config.tile[1] // self._columns
        shape = config.store_buffers, self._rows, self._columns
        self._tiles = [sl.alloc(shape, result.dtype) for result in self._results]
        # The thread that stores C grants buffers to the consumers, so it is this pipeline's producer.
        self._stores = sl.pipeline(config.store_stages)

    def finish(self, acc: sl.Fragment, work: WorkTile, warpgroup: sl.Index) -> None:
        """Write a consumer warpgroup's rows of a tile to buffers."""
        config = self._config
        for i in range(self._parts):
            index = (work.number * config.consumers + warpgroup) * self._parts + i
            with self._stores.consumer(index):
                parts = self._elements.of(_columns_of(acc), work, warpgroup, i)
                for part, tiles in zip(parts, self._tiles, strict=True):
                    sl.store(part, tiles[index % config.store_buffers])
                sl.fence()

    def store(self, scheduler: TileScheduler) -> None:
        """Store the epilogue tiles by TMA, and grant each buffer again when it has been read; one
        thread runs this."""
        config = self._config
        # One store may still read its buffer when the next one starts.
        in_flight = min(1, config.store_buffers - 1)
        for index in range(config.store_buffers - in_flight):
            self._stores.commit(index)
        for work in scheduler.work_tiles():
            for i in sl.range(config.stores):
                warpgroup, part = i // self._parts, i % self._parts
                own = sl.ds(work.row + warpgroup * self._rows, self._rows)
                first = part * self._columns
                index = work.number * config.stores + i
                # The warpgroup releases the stage when it has written the buffer.
                self._stores.acquire(index + config.store_stages)
                columns = sl.ds(work.column + first, self._columns)
                for result, tiles in zip(self._results, self._tiles, strict=True):
                    window = result[*work.batch, own, columns]
                    sl.tma_store(tiles[index % config.store_buffers], window)
                sl.tma_commit()
                sl.tma_wait(in_flight, read=True)
                # The store that has just been read frees the buffer of this pipeline index.
                self._stores.commit(index + (config.store_buffers - in_flight))
        sl.tma_wait(0, read=True)


class StoringWarpgroups:
    """An epilogue in which each consumer warpgroup stores its rows itself: of whole and of split tiles.

    Which CTA stores a split tile is known only when its last part is written.

    Args:
        arrays: the results C and D (..., M, N), and the operands of the problem's epilogue.
        problem: the kernel's.
        config: the configuration.
        workspace: the parts of split tiles.
        k_blocks: K blocks of a whole tile.
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        problem: Problem,
        config: Config,
        workspace: Workspace,
        k_blocks: sl.Index,
    ) -> None:
        self._results = _results(arrays, problem)
        self._config, self._elements = config, _Elements(arrays, problem, config)
        self._workspace, self._k_blocks = workspace, k_blocks
        self._rows, self._columns = config.tile[0] // config.consumers, config.store_columns
        shape = config.own_buffers, config.tile[0], self._columns
        self._tiles = [sl.alloc(shape, result.dtype) for result in self._results]

    def finish(self, acc: sl.Fragment, work: WorkTile, warpgroup: sl.Index) -> None:
        """Store a consumer warpgroup's rows of a tile, or of the parts of a tile if all are written."""
        parts = range(self._config.tile[1] // self._columns)
        with sl.when(work.k_blocks < self._k_blocks):  # noqa: SIM117
            with sl.when(self._workspace.arrive(acc, work, warpgroup)):
                for i in parts:
                    self._store(self._workspace.columns(work, warpgroup), i, work, warpgroup)
        with sl.otherwise():
            for i in parts:
                self._store(_columns_of(acc), i, work, warpgroup)

    def end(self) -> None:
        """Wait until the buffers are read; the last op of each consumer warpgroup."""
        with sl.elect():
            sl.tma_wait(0, read=True)

    def _store(
        self,
        columns: Callable[[int, int], sl.Fragment],
        i: int,
        work: WorkTile,
        warpgroup: sl.Index,
    ) -> None:
        """Store an epilogue tile by TMA, from the next buffer."""
        own = sl.ds(warpgroup * self._rows, self._rows)
        buffers = [tiles[i % self._config.own_buffers][own, :] for tiles in self._tiles]
        with sl.elect():
            sl.tma_wait(self._config.own_buffers - 1, read=True)
        sl.warpgroup_barrier()
        parts = self._elements.of(columns, work, warpgroup, i)
        for part, buffer in zip(parts, buffers, strict=True):
            sl.store(part, buffer)
        sl.fence()
        sl.warpgroup_barrier()
        with sl.elect():
            rows = sl.ds(work.row + warpgroup * self._rows, self._rows)
            stored = sl.ds(work.column + i * self._columns, self._columns)
            for result, buffer in zip(self._results, buffers, strict=True):
                sl.tma_store(buffer, result[*work.batch, rows, stored])
            sl.tma_commit()
