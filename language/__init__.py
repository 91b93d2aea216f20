"""The kernel language: Python functions, traced to ops of the dialect.

import mlir_smem.language as sl

What compiles and calls kernels is imported at its first use, so tracing one does not load the runtime.
"""

from typing import TYPE_CHECKING, Any

from .control.assume import assume
from .control.grid import (
    block_id,
    cdiv,
    grid,
    grid_dim,
    multiple_of,
    signed,
    thread_id,
    unsigned,
    warpgroup_id,
)
from .control.loop import range_ as range
from .control.ordered import ordered
from .control.partition import elect, partition, warp_specialize
from .control.when import otherwise, when
from .diagnosis import Remark, Remarks
from .dtypes import (
    DType,
    b1,
    bf16,
    dtype_of,
    e2m1,
    e2m3,
    e3m2,
    e4m3,
    e5m2,
    e8m0,
    f16,
    f32,
    f64,
    i4,
    i8,
    i16,
    i32,
    i64,
    index,
    padded_e2m1,
    tf32,
    u4,
    u8,
)
from .errors import Position, TraceError
from .ops.foreign import broadcast, op
from .ops.foreign import map_ as map
from .ops.interleave import interleave
from .ops.maths import abs_ as abs
from .ops.maths import (
    ceil,
    cos,
    erf,
    exp,
    exp2,
    fdiv,
    floor,
    log,
    log2,
    maximum,
    minimum,
    rsqrt,
    sin,
    sqrt,
    tanh,
)
from .ops.maths import pow_ as pow
from .ops.memory import (
    alloc,
    barrier,
    cluster_barrier,
    copy,
    copy_async,
    copy_commit,
    copy_wait,
    fence,
    load,
    load_metadata,
    store,
    tma_commit,
    tma_wait,
    warpgroup_barrier,
)
from .ops.mma import from_registers, mma, mma_scaled, mma_sp, to_registers, wait
from .ops.pipeline import Pipeline, Stage, pipeline, tma_load, tma_store
from .ops.printing import print_ as print
from .ops.semaphore import semaphore_arrive
from .ops.warp_uniform import make_warp_uniform
from .values.array import Array, Window
from .values.boolean import Bool
from .values.filled import full, zeros
from .values.fragment import Fragment, iota, reduce, where
from .values.index import Index
from .values.scalar import Scalar
from .values.slices import ds
from .values.tile import Tile

if TYPE_CHECKING:
    from ..runtime.tuning.halving import TuningError
    from .autotuning import Autotuned, Config, autotune
    from .call.errors import CallError
    from .decorator import Kernel, kernel
    from .performance import PerformanceWarning

__all__ = [
    "Array",
    "Autotuned",
    "Bool",
    "CallError",
    "Config",
    "DType",
    "Fragment",
    "Index",
    "Kernel",
    "PerformanceWarning",
    "Pipeline",
    "Position",
    "Remark",
    "Remarks",
    "Scalar",
    "Stage",
    "Tile",
    "TraceError",
    "TuningError",
    "Window",
    "abs",
    "alloc",
    "assume",
    "autotune",
    "b1",
    "barrier",
    "bf16",
    "block_id",
    "broadcast",
    "cdiv",
    "ceil",
    "cluster_barrier",
    "copy",
    "copy_async",
    "copy_commit",
    "copy_wait",
    "cos",
    "ds",
    "dtype_of",
    "e2m1",
    "e2m3",
    "e3m2",
    "e4m3",
    "e5m2",
    "e8m0",
    "elect",
    "erf",
    "exp",
    "exp2",
    "f16",
    "f32",
    "f64",
    "fdiv",
    "fence",
    "floor",
    "from_registers",
    "full",
    "grid",
    "grid_dim",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "interleave",
    "iota",
    "kernel",
    "load",
    "load_metadata",
    "log",
    "log2",
    "make_warp_uniform",
    "map",
    "maximum",
    "minimum",
    "mma",
    "mma_scaled",
    "mma_sp",
    "multiple_of",
    "op",
    "ordered",
    "otherwise",
    "padded_e2m1",
    "partition",
    "pipeline",
    "pow",
    "print",
    "range",
    "reduce",
    "rsqrt",
    "semaphore_arrive",
    "signed",
    "sin",
    "sqrt",
    "store",
    "tanh",
    "tf32",
    "thread_id",
    "tma_commit",
    "tma_load",
    "tma_store",
    "tma_wait",
    "to_registers",
    "u4",
    "u8",
    "unsigned",
    "wait",
    "warp_specialize",
    "warpgroup_barrier",
    "warpgroup_id",
    "when",
    "where",
    "zeros",
]

#: The file that defines each name that is imported at its first use.
_DEFINED_IN = {
    "Autotuned": "autotuning",
    "Config": "autotuning",
    "TuningError": ".runtime.tuning.halving",
    "autotune": "autotuning",
    "CallError": "call.errors",
    "Kernel": "decorator",
    "kernel": "decorator",
    "PerformanceWarning": "performance",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
