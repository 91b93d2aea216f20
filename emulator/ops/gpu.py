"""gpu: indices and extents, `gpu.barrier`, dynamic shared memory, `gpu.return`; special registers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import number
from ..cta import ConvergentThreads
from ..kernel import Op
from ..lanes import WARP
from ..registry import controls, executes
from ..types import dtype_of
from ..values import MemRef
from .nvvm_barrier import barriers_of

_DIMS = ("x", "y", "z")


def _dimension(op: Op) -> int:
    return _DIMS.index(op.text("dimension")[-2])


def _uniform(value: int) -> np.ndarray:
    return np.array([value], np.uint64)


def thread_index(convergent: ConvergentThreads, dim: int) -> np.ndarray:
    """Return the index of each thread along x, y or z."""
    x, y, _ = convergent.cta.launch.size
    linear = convergent.lanes.threads
    return ((linear % x), (linear // x % y), (linear // (x * y)))[dim].astype(np.uint64)


@executes("gpu.thread_id")
def _thread(op: Op) -> Any:
    dim = _dimension(op)
    return lambda convergent: thread_index(convergent, dim)


@executes("gpu.block_id", "gpu.block_dim", "gpu.grid_dim")
def _extent(op: Op) -> Any:
    dim, name = _dimension(op), op.name

    def step(convergent: ConvergentThreads) -> np.ndarray:
        cta = convergent.cta
        extents = {
            "gpu.block_id": cta.index,
            "gpu.block_dim": cta.launch.size,
            "gpu.grid_dim": cta.launch.grid,
        }
        return _uniform(extents[name][dim])

    return step


def _cluster_value(convergent: ConvergentThreads, name: str) -> np.ndarray:
    """Return, along x, y, z, the index of the CTA in its cluster, of the cluster in the grid, or the
    extents of either."""
    cta = convergent.cta
    grid, cluster = np.array(cta.launch.grid), np.array(cta.launch.cluster)
    return {
        "cluster_block_id": cta.index % cluster,
        "cluster_dim_blocks": cluster,
        "cluster_id": cta.index // cluster,
        "cluster_dim": grid // cluster,
    }[name]


@executes("gpu.cluster_block_id", "gpu.cluster_dim_blocks", "gpu.cluster_id", "gpu.cluster_dim")
def _cluster_extent(op: Op) -> Any:
    dim, name = _dimension(op), op.name.removeprefix("gpu.")
    return lambda convergent: _uniform(_cluster_value(convergent, name)[dim])


@executes("gpu.global_id")
def _global_thread(op: Op) -> Any:
    dim = _dimension(op)

    def step(convergent: ConvergentThreads) -> np.ndarray:
        cta = convergent.cta
        first = cta.index[dim] * cta.launch.size[dim]
        return thread_index(convergent, dim) + np.uint64(first)

    return step


#: Special registers, by their names in NVVM: the register and the dimension.
_SPECIAL = {
    f"nvvm.read.ptx.sreg.{name}.{letter}": (name, dim)
    for name in ("tid", "ctaid", "ntid", "nctaid")
    for dim, letter in enumerate(_DIMS)
}


@executes(*_SPECIAL)
def _special_register(op: Op) -> Any:
    name, dim = _SPECIAL[op.name]
    dtype = dtype_of(op.result_types[0], op.location)

    def step(convergent: ConvergentThreads) -> np.ndarray:
        cta = convergent.cta
        if name == "tid":
            return thread_index(convergent, dim).astype(dtype)
        registers = {"ctaid": cta.index, "ntid": cta.launch.size, "nctaid": cta.launch.grid}
        return _uniform(registers[name][dim]).astype(dtype)

    return step


#: Special registers of a cluster: the name in the gpu dialect and the dimension.
_OF_CLUSTER = {
    f"nvvm.read.ptx.sreg.{name}.{letter}": (word, dim)
    for name, word in (
        ("cluster.ctaid", "cluster_block_id"),
        ("cluster.nctaid", "cluster_dim_blocks"),
        ("clusterid", "cluster_id"),
        ("nclusterid", "cluster_dim"),
    )
    for dim, letter in enumerate(_DIMS)
}


@executes(*_OF_CLUSTER)
def _cluster_register(op: Op) -> Any:
    word, dim = _OF_CLUSTER[op.name]
    dtype = dtype_of(op.result_types[0], op.location)
    return lambda convergent: _uniform(_cluster_value(convergent, word)[dim]).astype(dtype)


#: Multiprocessors of an H200.
_MULTIPROCESSORS = 132


@executes("nvvm.read.ptx.sreg.nsmid")
def _multiprocessors(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    return lambda convergent: _uniform(_MULTIPROCESSORS).astype(dtype)


@executes("nvvm.read.ptx.sreg.cluster.ctarank", "nvvm.read.ptx.sreg.cluster.nctarank")
def _cluster_rank(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    if op.name.endswith("nctarank"):
        return lambda convergent: _uniform(len(convergent.cta.cluster.ctas)).astype(dtype)
    return lambda convergent: _uniform(convergent.cta.rank).astype(dtype)


@executes(
    "gpu.lane_id", "gpu.subgroup_id", "nvvm.read.ptx.sreg.laneid", "nvvm.read.ptx.sreg.warpid"
)
def _within_warp(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    if "lane" in op.name:
        return lambda convergent: (convergent.lanes.threads % WARP).astype(dtype)
    return lambda convergent: (convergent.lanes.threads // WARP).astype(dtype)


@executes("gpu.barrier", waits=True)
def _barrier(op: Op) -> Any:
    if op.operand_types or "workgroup" not in op.text("scope", "workgroup"):
        raise op.refuse("is of another scope than the whole CTA, which the emulator does not know")
    return lambda convergent: barriers_of(convergent.cta).arrive(convergent, 0, None, wait=True)


@executes("gpu.dynamic_shared_memory")
def _dynamic_memory(op: Op) -> Any:
    def step(convergent: ConvergentThreads) -> MemRef:
        launch = convergent.cta.launch
        size = max(launch.shared_end - launch.dynamic_start, 0)
        return MemRef(number(launch.dynamic_start), number(0), (number(size),), (number(1),))

    return step


@controls("gpu.return")
def _return(op: Op) -> Any:
    return lambda convergent: convergent.cta.finish(convergent)
