"""The GEMM kernel: a producer warpgroup loads and stores tiles by TMA, consumer warpgroups issue the mma.

The kernel is persistent and warp-specialized, as CUTLASS's `KernelTmaWarpSpecializedCooperative`. It is
written in the kernel language; its waits and fences are its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Any

from .... import language as sl
from ....dialect import new_context
from ....language.options import KernelOptions
from ....language.traced_function import TracedFunction
from ...registers import REGISTERS
from .config import Config
from .epilogue import AddingWarpgroups, StoringThread, StoringWarpgroups
from .mainloop import Mainloop
from .problem import Problem, accumulator
from .tile_scheduler import (
    ClusterSplitTileScheduler,
    PersistentTileScheduler,
    StreamKTileScheduler,
)
from .workspace import Workspace


def build(problem: Problem, config: Config) -> Any:
    """Build a module with the kernel `gemm(A, B, C)`: C = A * B, of any extents.

    If the GEMM is gated, B2 follows; if its epilogue has two results, D, which is as C. If K is split, W
    and S follow, a workspace of `workspace_extents`; then the operands of the problem's epilogue. If the
    operands are exchanged, A is B^T, B is A^T, and C is C^T.

    Raises:
        ConfigError: if the configuration does not fit the problem.
    """
    config.check(problem)
    problem = config.kernel_problem(problem)
    of_b = _array("KN", problem.b_major == "n", ["b" in having for having in problem.batch])
    shapes = [
        _array("MK", problem.a_major == "k", ["a" in having for having in problem.batch]),
        of_b,
        _array("MN", problem.c_major == "n", [True] * len(problem.batch)),
    ]
    cluster = (config.cluster_k, 1) if config.cluster_k > 1 else config.cluster
    options = KernelOptions(1 + config.consumers, cluster, min_blocks=1)
    parameters = {"A": problem.a, "B": problem.b, "C": problem.c}
    if problem.gated:
        parameters["B2"] = problem.b
        shapes.append(of_b)
    if problem.d:
        parameters["D"] = problem.d
        shapes.append(shapes[2])
    if config.split_k > 1:
        parameters |= {"W": accumulator(problem.a), "S": "i32"}
        shapes += [f"(P,{problem.products * config.tile[1]})", "(S)"]
    for operand in problem.fusion.operands if problem.fusion else ():
        parameters[operand.name] = operand.element
        shapes.append(operand.signature(config.exchanged))
    kernel = _whole_tiles
    if config.warpgroups_store:
        kernel = _split_tiles if config.split_k > 1 else _tiles_of_clusters

    def gemm(*arguments: Any) -> None:
        kernel(dict(zip(parameters, arguments, strict=True)), problem, config)

    gemm.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_ONLY) for name in parameters]
    )
    return TracedFunction(gemm, ", ".join(shapes), options).trace(*parameters.values())


def _array(names: str, by_rows: bool, batch: list[bool]) -> str:
    """Return an array's part of the signature: a matrix for each index of the dimensions that it has."""
    leading = [f"L{dim}" for dim, has in enumerate(batch) if has]
    strides = ["?"] * len(leading) + (["?", "1"] if by_rows else ["1", "?"])
    return f"({','.join([*leading, *names])}):({','.join(strides)})"


def text(problem: Problem, config: Config) -> str:
    """Return the kernel as text; arguments as for `build`."""
    with new_context():
        return str(build(problem, config))


def _whole_tiles(arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
    """Compute C (..., M, N) of A (..., M, K) and B (..., K, N); the arrays are by name."""
    mainloop = Mainloop(arrays, problem, config)
    epilogue = StoringThread(arrays, problem, config)
    scheduler = PersistentTileScheduler(config, arrays["C"].shape, mainloop.k_blocks)
    producer_registers, consumer_registers = REGISTERS[config.consumers]
    with sl.warp_specialize():
        with sl.partition(registers=producer_registers):
            # A thread of the first warp loads A and B, a thread of the second stores C; if the epilogue
            # has matrices, a thread of the third loads them.
            with sl.elect():
                mainloop.load(scheduler)
            with sl.elect(warp=1):
                epilogue.store(scheduler)
            if epilogue.sources:
                with sl.elect(warp=2):
                    epilogue.sources.load(scheduler)
        with sl.partition(config.consumers, consumer_registers) as warpgroup:
            rows = mainloop.rows_of(warpgroup)
            for work in scheduler.work_tiles():
                epilogue.finish(mainloop.multiply(work, rows), work, warpgroup)


def _split_tiles(arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
    """Compute C as `_whole_tiles` does; W has parts of split tiles, and S their semaphores."""
    mainloop = Mainloop(arrays, problem, config)
    scheduler = StreamKTileScheduler(config, arrays["C"].shape, mainloop.k_blocks)
    workspace = Workspace(arrays["W"], arrays["S"], config, scheduler)
    epilogue = StoringWarpgroups(arrays, problem, config, workspace, mainloop.k_blocks)
    producer_registers, consumer_registers = REGISTERS[config.consumers]
    with sl.warp_specialize():
        with sl.partition(registers=producer_registers), sl.elect():
            mainloop.load(scheduler)
        with sl.partition(config.consumers, consumer_registers) as warpgroup:
            rows = mainloop.rows_of(warpgroup)
            for work in scheduler.work_tiles():
                epilogue.finish(mainloop.multiply(work, rows), work, warpgroup)
            epilogue.end()


def _tiles_of_clusters(arrays: Mapping[str, Any], problem: Problem, config: Config) -> None:
    """Compute C as `_whole_tiles` does; the CTAs of a cluster have a part of K of one tile each."""
    mainloop = Mainloop(arrays, problem, config)
    scheduler = ClusterSplitTileScheduler(config, arrays["C"].shape, mainloop.k_blocks)
    epilogue = AddingWarpgroups(arrays, problem, config, scheduler.rank)
    producer_registers, consumer_registers = REGISTERS[config.consumers]
    with sl.warp_specialize():
        with sl.partition(registers=producer_registers):
            with sl.elect():
                mainloop.load(scheduler)
            sl.cluster_barrier()  # the one of `epilogue.finish`: all threads of the cluster wait
        with sl.partition(config.consumers, consumer_registers) as warpgroup:
            rows = mainloop.rows_of(warpgroup)
            for work in scheduler.work_tiles():
                epilogue.finish(mainloop.multiply(work, rows), work, warpgroup)
            epilogue.end()
