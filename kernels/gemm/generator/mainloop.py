"""The mainloop: one thread loads A and B by TMA, consumer warpgroups multiply them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .... import language as sl
from ....bindings.mlir import nvvm
from ....language.values.slices import Ds
from .config import Config
from .problem import Problem
from .tile_scheduler import TileScheduler, WorkTile


class Mainloop:
    """The K blocks of a CTA's work tiles, through a pipeline of stages in shared memory.

    Args:
        arrays: A (..., M, K), B (..., K, N), and B2 of a gated GEMM, by name.
        problem: the kernel's.
        config: the configuration.
    """

    def __init__(self, arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
        m, n, depth = config.tile
        A, B = arrays["A"], arrays["B"]  # noqa: N806
        self._A, self._Bs = A, [arrays[name] for name in ("B", "B2")[: problem.products]]
        self._problem, self._config = problem, config
        self._rows = m // config.consumers
        self._tiles_a = sl.alloc((config.stages, m, depth), _tile_dtype(A))
        self._tiles_b = sl.alloc((config.stages, depth, problem.products * n), _tile_dtype(B))
        self._loads = sl.pipeline(config.stages, consumers=config.consumers)
        self.k_blocks = sl.cdiv(A.shape[-1], depth)

    def load(self, scheduler: TileScheduler) -> None:
        """Load A and B of every K block of every work tile of the CTA; one thread runs this."""
        # The next kernel may start as soon as CTAs of this one end; this one reads and writes memory only
        # after earlier kernels have ended (programmatic dependent launch).
        sl.op(nvvm.griddepcontrol, nvvm.GridDepActionKind.launch_dependents)
        sl.op(nvvm.griddepcontrol, nvvm.GridDepActionKind.wait)
        # CTAs along N share A, and CTAs along M share B.
        along_m, along_n = self._config.cluster
        share_a = "y" if along_n > 1 else None
        share_b = "x" if along_m > 1 else None
        m, n, depth = self._config.tile
        for work in scheduler.work_tiles():
            rows, columns = sl.ds(work.row, m), sl.ds(work.column, n)
            a_batch, b_batch = (
                tuple(
                    index
                    for index, having in zip(work.batch, self._problem.batch, strict=True)
                    if operand in having
                )
                for operand in "ab"
            )
            for k in sl.range(work.k_blocks):
                with self._loads.producer(work.first + k) as stage:
                    depth_slice = sl.ds((work.k_block + k) * depth, depth)
                    sl.tma_load(
                        self._A[*a_batch, rows, depth_slice], self._tiles_a[stage], stage, share_a
                    )
                    for tile, B in zip(self._parts_of_b(stage), self._Bs, strict=True):  # noqa: N806
                        sl.tma_load(B[*b_batch, depth_slice, columns], tile, stage, share_b)

    def _parts_of_b(self, stage: sl.Stage) -> list[sl.Tile]:
        """Return the columns of a stage's B that each B is loaded to."""
        tile, n = self._tiles_b[stage], self._config.tile[1]
        if len(self._Bs) == 1:
            return [tile]
        return [tile[:, i * n : (i + 1) * n] for i in range(len(self._Bs))]

    def rows_of(self, warpgroup: sl.Index) -> Ds:
        """Return the rows of a tile that a consumer warpgroup has."""
        return sl.ds(warpgroup * self._rows, self._rows)

    def multiply(self, work: WorkTile, rows: Ds) -> sl.Fragment:
        """Return the product of a work tile in a consumer warpgroup's rows, those of `rows_of`."""
        acc = self._product(work.first, rows)
        for k in sl.range(1, work.k_blocks):
            acc = sl.wait(self._product(work.first + k, rows, acc), pending=1)
            self._loads.release(work.first + k - 1)
        acc = sl.wait(acc)
        self._loads.release(work.first + work.k_blocks - 1)
        return acc

    def _product(
        self, index: sl.Index | int, rows: Ds, acc: sl.Fragment | None = None
    ) -> sl.Fragment:
        """Wait for a stage of the pipeline and issue its mma."""
        stage = self._loads.wait(index)
        a = self._tiles_a[stage]
        return sl.mma(a[rows, :] if self._config.consumers > 1 else a, self._tiles_b[stage], acc)


def _tile_dtype(array: sl.Array) -> sl.DType:
    """Return the element type of a tile of A or B: TMA rounds f32 to tf32, which tensor cores read."""
    return sl.tf32 if array.dtype == sl.f32 else array.dtype
