"""`smem-lower-launches`: tensor maps, shared memory and clusters for launches of lowered kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..bindings.irtypes import Module, Op, Value
from ..bindings.mlir import ir
from ..dialect.smem import Smem
from ..ir import emit
from ..ir.cluster import cluster_size
from ..ir.errors import OpError
from ..ir.kernel import block_size
from ..ir.launch_attributes import SHARED_BYTES, TENSOR_MAP
from ..ir.launches import LAUNCH, PLACEHOLDER, LaunchFunc, kernel_of
from ..ir.tensor_map_parameters import pass_by_value
from ..ir.walk import walk
from ..passes import Pass, option
from .host_functions import host_ops
from .host_shared import share_memory
from .host_tensor_maps import encode_tensor_map

_CONSTANTS = ("arith.constant", "llvm.mlir.constant")


@dataclass(frozen=True)
class LowerLaunches(Pass):
    """Encode tensor maps on the host, and give launches the shared memory and clusters of their kernel.

    It runs after `smem-to-nvvm` and `convert-gpu-to-nvvm`, before `gpu-to-llvm` and
    `gpu-module-to-binary`. What functions of the host allocate becomes memory that kernels can access,
    too; a caller frees what it is returned (`mgpuMemFree` of upstream's CUDA runtime).
    """

    name = "smem-lower-launches"
    description = (
        "give launches of lowered kernels their tensor maps, dynamic shared memory and clusters"
    )

    memory: str = option(
        "shared",
        "what memref.alloc of the host allocates: shared memory of CPU and GPU, or the host's",
        choices=("shared", "host"),
    )

    def run(self, module: Module) -> None:
        if self.memory == "shared":
            share_memory(host_ops(module))
        finished: list[Op] = []
        for op in walk(module, LAUNCH):
            kernel = kernel_of(op)
            if kernel is None:
                if any(map(_is_placeholder, LaunchFunc.of(op).arguments)):
                    raise OpError(
                        op,
                        f"launches {op.attributes['kernel']}, which is not in the module as MLIR; run "
                        "smem-lower-launches before gpu-module-to-binary",
                    )
                continue
            _check_lowered(op, kernel)
            maps = _lower(op, kernel)
            if maps and kernel not in finished:
                finished.append(kernel)
                pass_by_value(kernel, maps)


def _check_lowered(op: Op, kernel: Op) -> None:
    """Check that a kernel is lowered as far as a launch needs it."""
    prefix = f"{Smem.DIALECT_NAMESPACE}."
    unlowered = next(
        (kernel_op for kernel_op in walk(kernel) if kernel_op.name.startswith(prefix)), None
    )
    if unlowered is not None:
        raise OpError(
            op,
            f"launches {op.attributes['kernel']}, which has a '{unlowered.name}'; run smem-to-nvvm "
            "before smem-lower-launches",
        )
    if kernel.name == "gpu.func" and any(map(_is_placeholder, LaunchFunc.of(op).arguments)):
        raise OpError(
            op,
            f"launches {op.attributes['kernel']}, which is a gpu.func and takes tensor maps; run "
            "gpu.module(convert-gpu-to-nvvm) before smem-lower-launches",
        )


def _lower(op: Op, kernel: Op) -> int:
    """Lower a launch, and return the number of its tensor maps."""
    launch = LaunchFunc.of(op)
    _check_block(op, launch, kernel)
    with ir.InsertionPoint(op), op.location:
        fields = {
            "cluster": _cluster(op, launch, kernel),
            "shared_bytes": _shared_bytes(launch, kernel),
            "arguments": [
                encode_tensor_map(op, argument.owner) if _is_placeholder(argument) else argument
                for argument in launch.arguments
            ],
        }
    placeholders = [argument.owner for argument in launch.arguments if _is_placeholder(argument)]
    launch.replace(op, **fields)
    for placeholder in placeholders:
        if not len(list(placeholder.results[0].uses)):
            placeholder.erase()
    return len(placeholders)


def _check_block(op: Op, launch: LaunchFunc, kernel: Op) -> None:
    """Check that the CTA has the number of threads for which the kernel is lowered."""
    size, block = block_size(kernel), _constants(launch.block)
    if size is not None and None not in block and tuple(block) != size:
        raise OpError(
            op,
            f"launches CTAs of {_times(block)} threads, but {op.attributes['kernel']} has "
            f"known_block_size = {_times(size)}",
        )


def _cluster(op: Op, launch: LaunchFunc, kernel: Op) -> Sequence[Value]:
    """Return the numbers of CTAs of a cluster along x, y and z."""
    size = cluster_size(kernel)
    if launch.cluster:
        cluster = _constants(launch.cluster)
        if tuple(cluster) != size:
            text = "a size that is not constant" if None in cluster else _times(cluster)
            raise OpError(
                op,
                f"launches clusters of {text}, but {op.attributes['kernel']} has known_cluster_size = "
                f"{_times(size)}",
            )
        return launch.cluster
    if size == (1, 1, 1):
        return ()
    grid = _constants(launch.grid)
    if any(extent is not None and extent % ctas for extent, ctas in zip(grid, size, strict=True)):
        text = " x ".join("?" if extent is None else str(extent) for extent in grid)
        raise OpError(
            op,
            f"launches a grid of {text} CTAs; expected multiples of the clusters of "
            f"{op.attributes['kernel']}, {_times(size)}",
        )
    return [emit.constant(extent, launch.grid[0].type) for extent in size]


def _shared_bytes(launch: LaunchFunc, kernel: Op) -> Sequence[Value]:
    """Return the bytes of dynamic shared memory: the launch's own, or those of tiles if they are more."""
    needed = kernel.attributes[SHARED_BYTES].value if SHARED_BYTES in kernel.attributes else 0
    if not launch.shared_bytes:
        return [emit.constant(needed, emit.i32())] if needed else ()
    (dynamic_bytes,) = launch.shared_bytes
    constant = _constants([dynamic_bytes])[0]
    if not needed or (constant is not None and constant >= needed):
        return launch.shared_bytes
    least = emit.constant(needed, dynamic_bytes.type)
    return [least if constant is not None else emit.binary("maxui", dynamic_bytes, least)]


def _is_placeholder(value: Value) -> bool:
    """Whether a value is the placeholder of a tensor map."""
    op = _defining_op(value)
    return op is not None and op.name == PLACEHOLDER and TENSOR_MAP in op.attributes


def _defining_op(value: Value) -> Op | None:
    """Return the op whose result a value is; None for the argument of a block."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _constants(values: Sequence[Value]) -> list[int | None]:
    """Return the numbers of constants; None for other values."""
    numbers: list[int | None] = []
    for value in values:
        op = _defining_op(value)
        if op is None or op.name not in _CONSTANTS:
            numbers.append(None)
        else:
            numbers.append(ir.IntegerAttr(op.attributes["value"]).value)
    return numbers


def _times(extents: Sequence[int | None]) -> str:
    return " x ".join(map(str, extents))
