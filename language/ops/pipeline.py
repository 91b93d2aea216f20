"""Pipelines of stages, the copies that fill them, and TMA."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ...dialect import ops as smem
from ..errors import TraceError
from ..trace import current, op_builder
from ..values.array import Window
from ..values.base import Traced, describe
from ..values.index import Index, as_index
from ..values.tile import Tile
from .memory import check_shapes, tile_value


class Stage(Index):
    """The number of a pipeline's stage, with the pipeline index that it belongs to.

    Attributes:
        pipeline, index: the pipeline and its index, which `tma_load` counts bytes for.
    """

    __slots__ = ("index", "pipeline")

    def __init__(self, value: Any, pipeline: Pipeline, index: Index) -> None:
        super().__init__(value, unsigned=True)
        self.pipeline = pipeline
        self.index = index


class Pipeline(Traced):
    """Stages that producers fill and consumers release; see `pipeline`.

    A pipeline index counts iterations from 0 on, through the whole kernel; its stage is the remainder.
    """

    __slots__ = ()

    kind = "a pipeline"

    def producer(self, index: Index | int) -> _PipelineSide:
        """Acquire a stage, and commit it at the end: `with pipe.producer(k) as stage:`."""
        return _PipelineSide(self, index, "acquire", "commit")

    def consumer(self, index: Index | int) -> _PipelineSide:
        """Wait for a stage, and release it at the end: `with pipe.consumer(k) as stage:`."""
        return _PipelineSide(self, index, "wait", "release")

    @op_builder
    def acquire(self, index: Index | int) -> Stage:
        """Wait until the stage of an index is empty, and return the stage."""
        index = as_index(index)
        return Stage(smem.producer_acquire(self.value, index.value), self, index)

    @op_builder
    def commit(self, index: Index | int) -> None:
        """Commit the stage of an index, which the thread has filled."""
        smem.producer_commit(self.value, as_index(index).value)

    @op_builder
    def wait(self, index: Index | int) -> Stage:
        """Wait until the stage of an index is full, and return the stage."""
        index = as_index(index)
        return Stage(smem.consumer_wait(self.value, index.value), self, index)

    @op_builder
    def release(self, index: Index | int) -> None:
        """Release the stage of an index; the warpgroup does not read it any more."""
        smem.consumer_release(self.value, as_index(index).value)


class _PipelineSide:
    """A side of a pipeline as a context: the op at its begin returns the stage."""

    def __init__(self, pipeline: Pipeline, index: Index | int, first: str, last: str) -> None:
        self.pipeline, self.index, self.first, self.last = pipeline, index, first, last

    def __enter__(self) -> Stage:
        return getattr(self.pipeline, self.first)(self.index)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            getattr(self.pipeline, self.last)(self.index)


@op_builder
def pipeline(stages: int, producers: int = 1, consumers: int = 1) -> Pipeline:
    """Return a new pipeline: full and empty barriers for each stage.

    Args:
        stages: their number.
        producers: the threads that commit a stage.
        consumers: the warpgroups that release a stage.

    Example:
        >>> pipe = sl.pipeline(4, consumers=2)
        >>> with pipe.consumer(0) as stage:
        ...     acc = sl.wait(sl.mma(a, b))
    """
    return Pipeline(smem.create_pipeline(stages, producers, consumers))


@op_builder
def tma_load(
    window: Window, tile: Tile, stage: Stage, multicast: str | None = None, cache: str | None = None
) -> None:
    """Load a window to a tile by TMA; its bytes count for the stage of a pipeline. One thread runs it.

    Args:
        window: of the tile's shape; elements outside of the array are zero.
        tile: the destination.
        stage: of `pipe.producer(k)` or `pipe.acquire(k)`.
        multicast: "x" or "y", to share the load among the CTAs of a cluster along it.
        cache: "evict_first", "evict_last" or "evict_normal".

    Raises:
        TraceError: for an array instead of a window, a window of another shape, or no stage.

    Example:
        >>> pipe = sl.pipeline(4)
        >>> with pipe.producer(0) as stage:
        ...     sl.tma_load(A[0:64, 0:64], a, stage)
    """
    if not isinstance(stage, Stage):
        raise TraceError(
            f"sl.tma_load counts its bytes for a stage; expected that of pipe.producer(k), not {stage!r}"
        )
    cluster = current().options.cluster_extents
    if multicast in ("x", "y") and cluster == (1, 1, 1):
        extents = "(2, 1)" if multicast == "x" else "(1, 2)"
        raise TraceError(
            f'sl.tma_load has multicast="{multicast}", but a cluster of the kernel has one CTA; write '
            f"cluster={extents} in sl.kernel, for example"
        )
    array, starts, box = _box(window, tile)
    pipe, index = stage.pipeline.value, stage.index.value
    smem.tma_load(array, box, pipe, index, starts, multicast, cache)


@op_builder
def tma_store(tile: Tile, window: Window, cache: str | None = None) -> None:
    """Store a tile to a window by TMA. One thread runs it.

    Args:
        tile: the source.
        window: of the tile's shape; elements outside of the array are not written.
        cache: "evict_first", "evict_last" or "evict_normal".

    Example:
        >>> sl.tma_store(a, D[0:64, 0:64])
        >>> sl.tma_commit()
    """
    array, starts, box = _box(window, tile)
    smem.tma_store(box, array, starts, cache)


def _box(window: Any, tile: Any) -> tuple[Any, list[Any], Any]:
    """Return the array of a window, the first element of the window, and the tile in the array's order
    of dimensions.

    Raises:
        TraceError: for something else, a window of another shape, or one that is not of the last two
            dimensions.
    """
    if not isinstance(window, Window):
        raise TraceError(
            f"TMA copies a window of an array, such as A[0:64, 0:64], not {describe(window)}"
        )
    rank = len(window.ranges)
    sliced = [dim for dim, dim_range in enumerate(window.ranges) if not dim_range.dropped]
    if sliced != [rank - 2, rank - 1]:
        raise TraceError(
            f"TMA copies rows and columns of the last two dimensions, but {window.type_text} has slices "
            f"of dimensions {', '.join(map(str, sliced))} of {rank}; expected an index for each other "
            "dimension, of a transposed view if need be, with strides in the signature"
        )
    check_shapes(window, tile)
    starts = [start.value if isinstance(start, Index) else start for start in window.starts]
    value = tile_value(tile)
    return window.array.value, starts, tile.T.value if window.transposed else value
