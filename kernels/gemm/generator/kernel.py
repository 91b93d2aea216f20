"""The GEMM kernel: a producer warpgroup loads and stores tiles by TMA, consumer warpgroups issue the mma.

The kernel is persistent and warp-specialized, as CUTLASS's `KernelTmaWarpSpecializedCooperative`. It is
written in the kernel language; its waits and fences are its own.
"""

from __future__ import annotations

from typing import Any

from .... import language as sl
from ....dialect import new_context
from ....dialect.bindings import nvvm
from ....language.build import Options
from ....language.traced_function import TracedFunction
from .config import REGISTERS, Config
from .problem import Problem
from .tile_scheduler import PersistentTileScheduler

#: The strides of a matrix of which one dimension is contiguous.
_ROWS, _COLUMNS = "(?,1)", "(1,?)"


def build(problem: Problem, config: Config) -> Any:
    """Build a module with the kernel `gemm(A, B, C)`: C = A * B, of any extents.

    Raises:
        ConfigError: if the configuration does not fit the problem.
    """
    config.check(problem)
    a = _ROWS if problem.a_major == "k" else _COLUMNS
    b = _ROWS if problem.b_major == "n" else _COLUMNS
    signature = f"(M,K):{a}, (K,N):{b}, (M,N):{_ROWS}"
    options = Options(1 + config.consumers, config.cluster, min_blocks=1)
    kernel = TracedFunction(gemm, signature, options)
    return kernel.trace(problem.a, problem.b, problem.c, config=config)


def text(problem: Problem, config: Config) -> str:
    """Return the kernel as text; arguments as for `build`."""
    with new_context():
        return str(build(problem, config))


def gemm(A: sl.Array, B: sl.Array, C: sl.Array, *, config: Config) -> None:  # noqa: N803
    """Compute C (M, N) of A (M, K) and B (K, N)."""
    m, n, depth = config.tile
    rows, columns = m // config.consumers, config.store_columns
    parts = n // columns
    tiles_a = sl.alloc((config.stages, m, depth), _tile_dtype(A))
    tiles_b = sl.alloc((config.stages, depth, n), _tile_dtype(B))
    tiles_c = sl.alloc((config.store_buffers, rows, columns), C.dtype)
    # The thread that stores C grants buffers to the consumers, so it is the producer of this pipeline.
    stores = sl.pipeline(config.store_stages)
    loads = sl.pipeline(config.stages, consumers=config.consumers)
    scheduler = PersistentTileScheduler(config, A.shape[0], B.shape[1])
    k_blocks = sl.cdiv(A.shape[1], depth)

    def load() -> None:
        """Load A and B of every K block of every tile of the CTA; one thread runs this."""
        # The next kernel may start as soon as CTAs of this one end; this one reads and writes memory only
        # after earlier kernels have ended (programmatic dependent launch).
        sl.op(nvvm.griddepcontrol, nvvm.GridDepActionKind.launch_dependents)
        sl.op(nvvm.griddepcontrol, nvvm.GridDepActionKind.wait)
        # CTAs along N share A, and CTAs along M share B.
        along_m, along_n = config.cluster
        share_a = "y" if along_n > 1 else None
        share_b = "x" if along_m > 1 else None
        for row, column, number in scheduler.tiles():
            for k in sl.range(k_blocks):
                with loads.producer(number * k_blocks + k) as stage:
                    at = sl.ds(k * depth, depth)
                    sl.tma_load(A[row : row + m, at], tiles_a[stage], stage, share_a)
                    sl.tma_load(B[at, column : column + n], tiles_b[stage], stage, share_b)

    def multiply(warpgroup: sl.Index) -> None:
        """Mainloop and epilogue of a consumer warpgroup for its rows of every tile of the CTA."""
        own = sl.ds(warpgroup * rows, rows)

        def product(index: sl.Index | int, acc: sl.Fragment | None = None) -> sl.Fragment:
            """Wait for a stage of the pipeline and issue its mma."""
            stage = loads.wait(index)
            a = tiles_a[stage][own, :] if config.consumers > 1 else tiles_a[stage]
            return sl.mma(a, tiles_b[stage], acc)

        for _, _, number in scheduler.tiles():
            first = number * k_blocks
            acc = product(first)
            for k in sl.range(1, k_blocks):
                acc = sl.wait(product(first + k, acc), pending=1)
                loads.release(first + k - 1)
            acc = sl.wait(acc)
            loads.release(first + k_blocks - 1)
            for i in range(parts):
                index = (number * config.consumers + warpgroup) * parts + i
                with stores.consumer(index):
                    part = acc[:, i * columns : (i + 1) * columns]
                    sl.store(part, tiles_c[index % config.store_buffers])
                    sl.fence()

    def store() -> None:
        """Store the epilogue tiles to C by TMA, and grant each buffer again when it has been read; one
        thread runs this."""
        # One store may still read its buffer when the next one starts.
        in_flight = min(1, config.store_buffers - 1)
        for index in range(config.store_buffers - in_flight):
            stores.commit(index)
        for row, column, number in scheduler.tiles():
            for i in sl.range(config.stores):
                warpgroup, part = i // parts, i % parts
                own = sl.ds(row + warpgroup * rows, rows)
                first = part * columns
                index = number * config.stores + i
                # The warpgroup releases the stage when it has written the buffer.
                stores.acquire(index + config.store_stages)
                window = C[own, sl.ds(column + first, columns)]
                sl.tma_store(tiles_c[index % config.store_buffers], window)
                sl.tma_commit()
                sl.tma_wait(in_flight, read=True)
                # The store that has just been read frees the buffer of this pipeline index.
                stores.commit(index + (config.store_buffers - in_flight))
        sl.tma_wait(0, read=True)

    producer_registers, consumer_registers = REGISTERS[config.consumers]
    with sl.warp_specialize():
        with sl.partition(registers=producer_registers):
            # A thread of the first warp loads A and B, a thread of the second stores C.
            with sl.elect():
                load()
            with sl.elect(warp=1):
                store()
        with sl.partition(config.consumers, consumer_registers) as warpgroup:
            multiply(warpgroup)


def _tile_dtype(array: sl.Array) -> sl.DType:
    """Return the element type of a tile of A or B: TMA rounds f32 to tf32, which tensor cores read."""
    return sl.tf32 if array.dtype == sl.f32 else array.dtype
