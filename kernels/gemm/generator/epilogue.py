"""Epilogues: consumers write the result to shared memory, from which TMA stores it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .... import language as sl
from ....language.values.slices import Ds
from .config import Config
from .problem import Problem, accumulator
from .sources import Sources
from .tile_scheduler import TileScheduler, WorkTile
from .workspace import Workspace


class _EpilogueElements:
    """The elements of the results: those of A * B, or of the problem's epilogue.

    Args:
        arrays, problem, config: as for the epilogues.
    """

    def __init__(self, arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
        self._arrays, self._config = arrays, config
        self._fusion, self._products = problem.fusion, problem.products

    def read(
        self, work: WorkTile, warpgroup: sl.Index, part: int, sources: Sources | None = None
    ) -> dict[str, Any]:
        """Return the arguments of the problem's epilogue besides products.

        Loads from global memory begin here, so this comes before the warpgroup waits for a buffer: an
        activation has branches, across which they are not moved, and each would be waited for in turn.
        """
        if self._fusion is None:
            return {}
        config = self._config
        shape = config.tile[0] // config.consumers, config.store_columns
        place = work.row + warpgroup * shape[0], work.column + part * shape[1]
        extents = self._arrays["C"].shape[-2:]
        loaded = sources.names if sources else ()
        return self._fusion.read(
            self._arrays, shape, place, extents, config.exchanged, loaded, work.batch
        )

    def of(
        self,
        columns: Callable[[int, int], sl.Fragment],
        part: int,
        named: Mapping[str, Any],
    ) -> list[sl.Fragment]:
        """Return the results' elements in an epilogue tile of a warpgroup's rows.

        Args:
            columns: returns columns of the products, by the first and their number.
            part: the number of the epilogue tile in the rows.
            named: the arguments of the problem's epilogue besides products.
        """
        width = self._config.store_columns
        starts = range(part * width, self._products * self._config.tile[1], self._config.tile[1])
        products = [columns(start, width) for start in starts]
        return products if self._fusion is None else self._fusion.apply(products, named)


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

    Attributes:
        sources: the loads of matrices of the problem's epilogue; None without such matrices.
    """

    def __init__(self, arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
        self._results = _results(arrays, problem)
        self._config, self._elements = config, _EpilogueElements(arrays, problem, config)
        self._rows, self._columns = config.tile[0] // config.consumers, config.store_columns
        self._parts = config.tile[1] // self._columns
        shape = config.store_buffers, self._rows, self._columns
        self._tiles = [sl.alloc(shape, result.dtype) for result in self._results]
        self.sources = Sources(arrays, problem, config) if config.sources(problem) else None
        # The thread that stores C grants buffers to the consumers, so it is this pipeline's producer.
        self._stores = sl.pipeline(config.store_stages)

    # The first warpgroup stores all of its rows before the second one, which so stays a little behind it.
    # Matrices are loaded for the warpgroups in turn, so then they also store in turn: in two orders, the
    # loads would wait for one warpgroup, that one for a buffer, and the other one for a load.

    def _index(self, work: WorkTile, warpgroup: sl.Index, part: int) -> sl.Index:
        """Return the pipeline index of an epilogue tile: its number in the order of stores."""
        config = self._config
        if self.sources:
            return work.number * config.stores + part * config.consumers + warpgroup
        return (work.number * config.consumers + warpgroup) * self._parts + part

    def _place(self, number: sl.Index) -> tuple[sl.Index, sl.Index]:
        """Return the warpgroup of an epilogue tile by its number, and the number of its columns."""
        if self.sources:
            return number % self._config.consumers, number // self._config.consumers
        return number // self._parts, number % self._parts

    def finish(self, acc: sl.Fragment, work: WorkTile, warpgroup: sl.Index) -> None:
        """Write a consumer warpgroup's rows of a tile to buffers."""
        config = self._config
        for i in range(self._parts):
            index = self._index(work, warpgroup, i)
            read = self._elements.read(work, warpgroup, i, self.sources)
            with self._stores.consumer(index):
                if self.sources:
                    read |= self.sources.of(work, warpgroup, i)
                parts = self._elements.of(_columns_of(acc), i, read)
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
                warpgroup, part = self._place(i)
                rows = sl.ds(work.row + warpgroup * self._rows, self._rows)
                first = part * self._columns
                index = work.number * config.stores + i
                # The warpgroup releases the stage when it has written the buffer.
                self._stores.acquire(index + config.store_stages)
                columns = sl.ds(work.column + first, self._columns)
                for result, tiles in zip(self._results, self._tiles, strict=True):
                    window = result[*work.batch, rows, columns]
                    sl.tma_store(tiles[index % config.store_buffers], window)
                sl.tma_commit()
                sl.tma_wait(in_flight, read=True)
                # The store that has just been read frees the buffer of this pipeline index.
                self._stores.commit(index + (config.store_buffers - in_flight))
        sl.tma_wait(0, read=True)


class _OwnStores:
    """Stores of epilogue tiles by the warpgroups that compute them.

    Args:
        arrays: the results C and D (..., M, N), and the operands of the problem's epilogue.
        problem: the kernel's.
        config: the configuration.
    """

    def __init__(self, arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
        self._results = _results(arrays, problem)
        self._config, self._elements = config, _EpilogueElements(arrays, problem, config)
        self._rows, self._columns = config.tile[0] // config.consumers, config.store_columns
        shape = config.own_buffers, config.tile[0], self._columns
        self._tiles = [sl.alloc(shape, result.dtype) for result in self._results]

    def end(self) -> None:
        """Wait until the buffers are read; the last op of each consumer warpgroup."""
        with sl.elect():
            sl.tma_wait(0, read=True)

    def _rows_of(self, warpgroup: sl.Index) -> Ds:
        return sl.ds(warpgroup * self._rows, self._rows)

    def _store_all(
        self, columns: Callable[[int, int], sl.Fragment], work: WorkTile, warpgroup: sl.Index
    ) -> None:
        """Store a warpgroup's rows, in the columns that the CTA finishes."""
        for i in range(self._config.finished_columns // self._columns):
            self._store(columns, i, work, warpgroup)

    def _store(
        self,
        columns: Callable[[int, int], sl.Fragment],
        i: int,
        work: WorkTile,
        warpgroup: sl.Index,
    ) -> None:
        """Store an epilogue tile by TMA, from the next buffer."""
        rows_of_tile = self._rows_of(warpgroup)
        buffers = [tiles[i % self._config.own_buffers][rows_of_tile, :] for tiles in self._tiles]
        read = self._elements.read(work, warpgroup, i)
        with sl.elect():
            sl.tma_wait(self._config.own_buffers - 1, read=True)
        sl.warpgroup_barrier()
        parts = self._elements.of(columns, i, read)
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


class StoringWarpgroups(_OwnStores):
    """An epilogue of whole tiles and of tiles that stream-K splits.

    Which CTA stores a split tile is known only when its last part is written.

    Args:
        arrays, problem, config: as for `StoringThread`.
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
        super().__init__(arrays, problem, config)
        self._workspace, self._k_blocks = workspace, k_blocks

    def finish(self, acc: sl.Fragment, work: WorkTile, warpgroup: sl.Index) -> None:
        """Store a consumer warpgroup's rows of a tile, or of the parts of a tile if all are written."""
        with sl.when(work.k_blocks < self._k_blocks):  # noqa: SIM117
            with sl.when(self._workspace.arrive(acc, work, warpgroup)):
                self._store_all(self._workspace.columns(work, warpgroup), work, warpgroup)
        with sl.otherwise():
            self._store_all(_columns_of(acc), work, warpgroup)


class AddingWarpgroups(_OwnStores):
    """An epilogue in which the CTAs of a cluster add their parts of a tile, each in its share of the
    columns, in the order of K.

    Args:
        arrays, problem, config: as for `StoringThread`.
        rank: the CTA's rank in its cluster.
    """

    def __init__(
        self, arrays: Mapping[str, Any], problem: Problem, config: Config, rank: sl.Index
    ) -> None:
        super().__init__(arrays, problem, config)
        self._rank, self._products, self._share = rank, problem.products, config.finished_columns
        self._halves = config.adds_halves
        shape = config.tile[0], config.part_columns(problem)
        self._part = sl.alloc(shape, sl.dtype_of(accumulator(problem.a)))

    def finish(self, acc: sl.Fragment, work: WorkTile, warpgroup: sl.Index) -> None:
        """Store a consumer warpgroup's rows of the CTA's share of a tile; every CTA of the cluster runs
        it together with its producer, whose barrier of the cluster is the one in here."""
        rows = self._rows_of(warpgroup)
        total = self._of_two(acc, rows) if self._halves else self._of_all(acc, rows)
        share = work._replace(column=work.column + self._rank * self._share)
        if self._config.finishing_ctas == self._config.cluster_k:
            self._store_all(total, share, warpgroup)
        else:
            with sl.when(self._rank < self._config.finishing_ctas):
                self._store_all(total, share, warpgroup)

    def _of_all(self, acc: sl.Fragment, rows: Ds) -> Callable[[int, int], sl.Fragment]:
        """Write all columns, and return a function for the sum in columns of the CTA's share."""
        sl.store(acc, self._part[rows, :])
        sl.cluster_barrier()

        def total(column: int, count: int) -> sl.Fragment:
            part = self._part[rows, sl.ds(self._rank * self._share + column, count)]
            acc = sl.load(part, rank=0)
            for rank in range(1, self._config.cluster_k):
                acc = acc + sl.load(part, rank=rank)
            return acc

        return total

    def _of_two(self, acc: sl.Fragment, rows: Ds) -> Callable[[int, int], sl.Fragment]:
        """Write the peer CTA's share alone, and add the peer's part to the CTA's share in registers: half
        the shared memory. The sum of two does not depend on their order."""
        n, share, is_first = self._config.tile[1], self._share, self._rank < 1
        shares: list[sl.Fragment] = []
        for product in range(self._products):
            starts = product * n, product * n + share
            halves = [acc[:, start : start + share] for start in starts]
            shares.append(sl.where(is_first, *halves))
            peer_share = sl.where(is_first, *reversed(halves))
            sl.store(peer_share, self._part[rows, product * share : (product + 1) * share])
        sl.cluster_barrier()

        def total(column: int, count: int) -> sl.Fragment:
            product, first = divmod(column, n)
            start = product * share + first
            peer_part = self._part[rows, start : start + count]
            columns = shares[product][:, first : first + count]
            return columns + sl.load(peer_part, rank=1 - self._rank)

        return total
