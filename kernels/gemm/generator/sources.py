"""Matrices that an epilogue reads, loaded by TMA while the consumers multiply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .... import language as sl
from ....bindings.mlir import nvvm
from .config import Config
from .problem import Problem
from .tile_scheduler import TileScheduler, WorkTile


class Sources:
    """The epilogue tiles of matrices, in a pipeline between a thread that loads and the consumers.

    Each stage belongs to one warpgroup, which so observes all of its phases.

    Args:
        arrays: the operands of the problem's epilogue, by name.
        problem: the kernel's.
        config: the configuration.
    """

    def __init__(self, arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
        self._config, stages = config, config.source_stages
        self._rows, self._columns = config.tile[0] // config.consumers, config.store_columns
        self._operands = config.sources(problem)
        self._arrays = {operand.name: arrays[operand.name] for operand in self._operands}
        self._tiles = {
            name: sl.alloc((stages, self._rows, self._columns), array.dtype)
            for name, array in self._arrays.items()
        }
        self._loads = sl.pipeline(stages)

    @property
    def names(self) -> Collection[str]:
        """The names of the matrices."""
        return self._arrays.keys()

    def load(self, scheduler: TileScheduler) -> None:
        """Load the epilogue tiles of every work tile of the CTA; one thread runs this."""
        # An earlier kernel may have written the matrices (programmatic dependent launch).
        sl.op(nvvm.griddepcontrol, nvvm.GridDepActionKind.wait)
        config = self._config
        for work in scheduler.work_tiles():
            for i in sl.range(config.stores):
                part, warpgroup = i // config.consumers, i % config.consumers
                rows = sl.ds(work.row + warpgroup * self._rows, self._rows)
                columns = sl.ds(work.column + part * self._columns, self._columns)
                with self._loads.producer(work.number * config.stores + i) as stage:
                    for operand in self._operands:
                        batch = [work.batch[dim] for dim in operand.batch]
                        window = self._arrays[operand.name][*batch, rows, columns]
                        sl.tma_load(window, self._tiles[operand.name][stage], stage)

    def of(self, work: WorkTile, warpgroup: sl.Index, part: int) -> dict[str, sl.Fragment]:
        """Return the elements of a warpgroup's epilogue tile, by the name of the matrix."""
        number = work.number * (self._config.stores // self._config.consumers) + part
        with self._loads.consumer(number * self._config.consumers + warpgroup) as stage:
            fragments = {name: sl.load(tiles[stage], sl.f32) for name, tiles in self._tiles.items()}
            sl.fence()
        return fragments
