"""The mainloop: one thread loads A and B by TMA, consumer warpgroups multiply them."""

from __future__ import annotations

from .... import language as sl
from ....dialect.bindings import nvvm
from .config import Config
from .tile_scheduler import TileScheduler, WorkTile


class Mainloop:
    """The K blocks of a CTA's work tiles, through a pipeline of stages in shared memory.

    Args:
        A: A (M, K).
        B: B (K, N).
        config: the configuration.
    """

    def __init__(self, A: sl.Array, B: sl.Array, config: Config) -> None:  # noqa: N803
        m, n, depth = config.tile
        self._arrays = A, B
        self._config = config
        self._rows = m // config.consumers
        self._tiles_a = sl.alloc((config.stages, m, depth), _tile_dtype(A))
        self._tiles_b = sl.alloc((config.stages, depth, n), _tile_dtype(B))
        self._loads = sl.pipeline(config.stages, consumers=config.consumers)
        self.k_blocks = sl.cdiv(A.shape[1], depth)

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
        (m, n, depth), (A, B) = self._config.tile, self._arrays  # noqa: N806
        for work in scheduler.work_tiles():
            row, column = work.row, work.column
            for k in sl.range(work.k_blocks):
                with self._loads.producer(work.first + k) as stage:
                    at = sl.ds((work.k_block + k) * depth, depth)
                    sl.tma_load(A[row : row + m, at], self._tiles_a[stage], stage, share_a)
                    sl.tma_load(B[at, column : column + n], self._tiles_b[stage], stage, share_b)

    def multiply(self, work: WorkTile, warpgroup: sl.Index) -> sl.Fragment:
        """Return a consumer warpgroup's rows of the product of a work tile."""
        acc = self._product(work.first, warpgroup)
        for k in sl.range(1, work.k_blocks):
            acc = sl.wait(self._product(work.first + k, warpgroup, acc), pending=1)
            self._loads.release(work.first + k - 1)
        acc = sl.wait(acc)
        self._loads.release(work.first + work.k_blocks - 1)
        return acc

    def _product(
        self, index: sl.Index | int, warpgroup: sl.Index, acc: sl.Fragment | None = None
    ) -> sl.Fragment:
        """Wait for a stage of the pipeline and issue its mma."""
        stage = self._loads.wait(index)
        own = sl.ds(warpgroup * self._rows, self._rows)
        a = self._tiles_a[stage]
        return sl.mma(a[own, :] if self._config.consumers > 1 else a, self._tiles_b[stage], acc)


def _tile_dtype(array: sl.Array) -> sl.DType:
    """Return the element type of a tile of A or B: TMA rounds f32 to tf32, which tensor cores read."""
    return sl.tf32 if array.dtype == sl.f32 else array.dtype
