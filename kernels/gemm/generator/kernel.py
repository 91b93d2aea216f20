"""The GEMM kernel: a producer warpgroup loads and stores tiles by TMA, consumer warpgroups issue the mma.

The kernel is persistent and warp-specialized, as CUTLASS's `KernelTmaWarpSpecializedCooperative`. It is
written in the kernel language; its waits and fences are its own.
"""

from __future__ import annotations

from typing import Any

from .... import language as sl
from ....dialect import new_context
from ....language.build import Options
from ....language.traced_function import TracedFunction
from .config import REGISTERS, Config
from .epilogue import StoringThread
from .mainloop import Mainloop
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
    c = _ROWS if problem.c_major == "n" else _COLUMNS
    signature = f"(M,K):{a}, (K,N):{b}, (M,N):{c}"
    options = Options(1 + config.consumers, config.cluster, min_blocks=1)
    kernel = TracedFunction(gemm, signature, options)
    return kernel.trace(problem.a, problem.b, problem.c, config=config)


def text(problem: Problem, config: Config) -> str:
    """Return the kernel as text; arguments as for `build`."""
    with new_context():
        return str(build(problem, config))


def gemm(A: sl.Array, B: sl.Array, C: sl.Array, *, config: Config) -> None:  # noqa: N803
    """Compute C (M, N) of A (M, K) and B (K, N)."""
    mainloop = Mainloop(A, B, config)
    epilogue = StoringThread(C, config)
    scheduler = PersistentTileScheduler(config, A.shape[0], B.shape[1], mainloop.k_blocks)
    producer_registers, consumer_registers = REGISTERS[config.consumers]
    with sl.warp_specialize():
        with sl.partition(registers=producer_registers):
            # A thread of the first warp loads A and B, a thread of the second stores C.
            with sl.elect():
                mainloop.load(scheduler)
            with sl.elect(warp=1):
                epilogue.store(scheduler)
        with sl.partition(config.consumers, consumer_registers) as warpgroup:
            for work in scheduler.work_tiles():
                epilogue.finish(mainloop.multiply(work, warpgroup), work, warpgroup)
