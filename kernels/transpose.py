"""A kernel that transposes a matrix in memory: the same indices, the other dimension contiguous.

wgmma reads 8-bit and 32-bit operands K-major only; this kernel transposes an M-major A or an N-major B
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import language as sl
from ..language.options import KernelOptions
from ..language.traced_function import TracedFunction
from .errors import ConfigError


@dataclass(frozen=True)
class TransposeConfig:
    """The configuration of the kernel. A CTA transposes one window after the other.

    Attributes:
        window: (rows, columns) of a window, in elements.
        stages: stages of loaded windows.
        buffers: buffers of transposed windows, which are written or stored; at least 2.
        warpgroups: warpgroups of a CTA; all of its threads transpose the data.
    """

    window: tuple[int, int]
    stages: int = 3
    buffers: int = 2
    warpgroups: int = 2


#: By MLIR's name of the element type; 8-bit floats are copied as i8. Lines of a window are 128 bytes or
#: more along both dimensions, so that memory is read and written in whole sectors, and two CTAs fit a
#: multiprocessor.
CONFIGS = {"i8": TransposeConfig((128, 128)), "f32": TransposeConfig((64, 64))}


def build_transpose(
    element: str, config: TransposeConfig | None = None, of_many: bool = False
) -> Any:
    """Build a module with the kernel `transpose(X, Y)`: Y = X of any extents.

    X has contiguous columns and Y contiguous rows; other strides are multiples of 16 bytes. Any number of
    thread blocks may be launched along x: they divide the windows of a matrix among them. Along y, each
    matrix has its own.

    Args:
        element: "i8" or "f32".
        config: the configuration; that of `CONFIGS` if None.
        of_many: whether X and Y are matrices with two leading dimensions.

    Raises:
        ConfigError: if the element type is another, or there are fewer than 2 buffers.
    """
    if element not in CONFIGS:
        raise ConfigError(f"element is {element}; expected {' or '.join(CONFIGS)}")
    config = config or CONFIGS[element]
    if config.buffers < 2:
        raise ConfigError(
            f"buffers is {config.buffers}; expected 2 or more, because one is stored while another is "
            "written"
        )
    signature = "(M,N):(1,?), (M,N):(?,1)"
    if of_many:
        signature = "(A,B,M,N):(?,?,1,?), (A,B,M,N):(?,?,?,1)"
    kernel = TracedFunction(transpose, signature, KernelOptions(config.warpgroups))
    return kernel.trace(element, element, config=config)


def transpose(X: sl.Array, Y: sl.Array, *, config: TransposeConfig) -> None:  # noqa: N803
    """Copy X (..., M, N), of contiguous columns, to Y (..., M, N), of contiguous rows."""
    height, width = config.window
    loaded = sl.alloc((config.stages, height, width), X.dtype)
    transposed = sl.alloc((config.buffers, height, width), X.dtype)
    loads = sl.pipeline(config.stages, consumers=config.warpgroups)
    *leading, m, n = X.shape
    rows, columns = sl.cdiv(m, height), sl.cdiv(n, width)
    total = rows * columns
    first, ctas = sl.block_id(0), sl.grid_dim(0)

    def window(array: sl.Array, number: sl.Index) -> sl.Window:
        """Return a window of X or Y. Windows are counted along X's contiguous columns."""
        row, column = number % rows * height, number // rows * width
        matrix = [sl.block_id(1) // leading[1], sl.block_id(1) % leading[1]] if leading else []
        return array[*matrix, row : row + height, column : column + width]

    def load(index: sl.Index | int) -> None:
        """Load the CTA's window of a pipeline index, if the matrix has it."""
        number = first + index * ctas
        with sl.when(number < total), loads.producer(index) as stage:
            sl.tma_load(window(X, number), loaded[stage], stage)

    with sl.elect(scope="cta"):
        for index in range(config.stages):
            load(index)
    index = 0
    for number in sl.range(first, total, ctas):
        stage = loads.wait(index)
        buffer = transposed[index % config.buffers]
        sl.copy(loaded[stage], buffer, relayout=True)
        sl.fence()
        loads.release(index)
        # After the barrier every thread may write the next window's buffer: its store has been read.
        with sl.elect(scope="cta"):
            sl.tma_wait(config.buffers - 2, read=True)
        sl.barrier()
        with sl.elect(scope="cta"):
            sl.tma_store(buffer, window(Y, number))
            sl.tma_commit()
            load(index + config.stages)
        index = index + 1
    with sl.elect(scope="cta"):
        sl.tma_wait(0, read=True)
