"""The epilogue: consumers write the result to shared memory, and one thread stores it by TMA."""

from __future__ import annotations

from .... import language as sl
from .config import Config
from .tile_scheduler import TileScheduler, WorkTile


class StoringThread:
    """An epilogue whose stores run while the consumers multiply the next tile.

    Args:
        C: the result (M, N).
        config: the configuration.
    """

    def __init__(self, C: sl.Array, config: Config) -> None:  # noqa: N803
        self._C, self._config = C, config
        self._rows, self._columns = config.tile[0] // config.consumers, config.store_columns
        self._parts = config.tile[1] // self._columns
        self._tiles = sl.alloc((config.store_buffers, self._rows, self._columns), C.dtype)
        # The thread that stores C grants buffers to the consumers, so it is this pipeline's producer.
        self._stores = sl.pipeline(config.store_stages)

    def finish(self, acc: sl.Fragment, work: WorkTile, warpgroup: sl.Index) -> None:
        """Write a consumer warpgroup's rows of a tile to buffers."""
        config, columns = self._config, self._columns
        for i in range(self._parts):
            index = (work.number * config.consumers + warpgroup) * self._parts + i
            with self._stores.consumer(index):
                part = acc[:, i * columns : (i + 1) * columns]
                sl.store(part, self._tiles[index % config.store_buffers])
                sl.fence()

    def store(self, scheduler: TileScheduler) -> None:
        """Store the epilogue tiles to C by TMA, and grant each buffer again when it has been read; one
        thread runs this."""
        config, C = self._config, self._C  # noqa: N806
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
                window = C[own, sl.ds(work.column + first, self._columns)]
                sl.tma_store(self._tiles[index % config.store_buffers], window)
                sl.tma_commit()
                sl.tma_wait(in_flight, read=True)
                # The store that has just been read frees the buffer of this pipeline index.
                self._stores.commit(index + (config.store_buffers - in_flight))
        sl.tma_wait(0, read=True)
