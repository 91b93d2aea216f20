"""`smem-lower-launches`: what launches of lowered kernels need from the host."""

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
from ..passes import Pass
from .host_tensor_maps import encoded

_CONSTANTS = ("arith.constant", "llvm.mlir.constant")


@dataclass(frozen=True)
class LowerLaunches(Pass):
    """The host encodes tensor maps, and launches have the shared memory and the clusters of their kernel.

    It runs after `smem-to-nvvm` and `convert-gpu-to-nvvm`, before `gpu-to-llvm` and
    `gpu-module-to-binary`.
    """

    name = "smem-lower-launches"
    description = (
        "give launches of lowered kernels their tensor maps, dynamic shared memory and clusters"
    )

    def run(self, module: Module) -> None:
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
    left = next((each for each in walk(kernel) if each.name.startswith(prefix)), None)
    if left is not None:
        raise OpError(
            op,
            f"launches {op.attributes['kernel']}, which has a '{left.name}'; run smem-to-nvvm before "
            "smem-lower-launches",
        )
    if kernel.name == "gpu.func" and any(map(_is_placeholder, LaunchFunc.of(op).arguments)):
        raise OpError(
            op,
            f"launches {op.attributes['kernel']}, which is a gpu.func and takes tensor maps; run "
            "gpu.module(convert-gpu-to-nvvm) before smem-lower-launches",
        )


def _lower(op: Op, kernel: Op) -> int:
    """Give a launch what its kernel needs; return the number of its tensor maps."""
    launch = LaunchFunc.of(op)
    _check_block(op, launch, kernel)
    with ir.InsertionPoint(op), op.location:
        changed = {
            "cluster": _cluster(op, launch, kernel),
            "shared_bytes": _shared_bytes(launch, kernel),
            "arguments": [
                encoded(op, each.owner) if _is_placeholder(each) else each
                for each in launch.arguments
            ],
        }
    placeholders = [each.owner for each in launch.arguments if _is_placeholder(each)]
    launch.replace(op, **changed)
    for each in placeholders:
        if not len(list(each.results[0].uses)):
            each.erase()
    return len(placeholders)


def _check_block(op: Op, launch: LaunchFunc, kernel: Op) -> None:
    """Check that the CTA has the threads for which the kernel is lowered."""
    size, given = block_size(kernel), _constants(launch.block)
    if size is not None and None not in given and tuple(given) != size:
        raise OpError(
            op,
            f"launches CTAs of {_times(given)} threads, but {op.attributes['kernel']} has "
            f"known_block_size = {_times(size)}",
        )


def _cluster(op: Op, launch: LaunchFunc, kernel: Op) -> Sequence[Value]:
    """Return the CTAs of a cluster along x, y and z."""
    size = cluster_size(kernel)
    if launch.cluster:
        given = _constants(launch.cluster)
        if tuple(given) != size:
            shown = "a size that is not constant" if None in given else _times(given)
            raise OpError(
                op,
                f"launches clusters of {shown}, but {op.attributes['kernel']} has known_cluster_size = "
                f"{_times(size)}",
            )
        return launch.cluster
    if size == (1, 1, 1):
        return ()
    grid = _constants(launch.grid)
    if any(each is not None and each % of for each, of in zip(grid, size, strict=True)):
        shown = " x ".join("?" if each is None else str(each) for each in grid)
        raise OpError(
            op,
            f"launches a grid of {shown} CTAs; expected multiples of the clusters of "
            f"{op.attributes['kernel']}, {_times(size)}",
        )
    return [emit.constant(each, launch.grid[0].type) for each in size]


def _shared_bytes(launch: LaunchFunc, kernel: Op) -> Sequence[Value]:
    """Return the dynamic shared memory of a launch: what it has, or what tiles need if that is more."""
    needed = kernel.attributes[SHARED_BYTES].value if SHARED_BYTES in kernel.attributes else 0
    if not launch.shared_bytes:
        return [emit.constant(needed, emit.i32())] if needed else ()
    (given,) = launch.shared_bytes
    constant = _constants([given])[0]
    if not needed or (constant is not None and constant >= needed):
        return launch.shared_bytes
    least = emit.constant(needed, given.type)
    return [least if constant is not None else emit.binary("maxui", given, least)]


def _is_placeholder(value: Value) -> bool:
    """Whether a value is a tensor map that is to be encoded."""
    op = _defining(value)
    return op is not None and op.name == PLACEHOLDER and TENSOR_MAP in op.attributes


def _defining(value: Value) -> Op | None:
    """Return the op whose result a value is; None for the argument of a block."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _constants(values: Sequence[Value]) -> list[int | None]:
    """Return the numbers that values are; None for those that are not constant."""
    found: list[int | None] = []
    for value in values:
        op = _defining(value)
        if op is None or op.name not in _CONSTANTS:
            found.append(None)
        else:
            found.append(ir.IntegerAttr(op.attributes["value"]).value)
    return found


def _times(extents: Sequence[int | None]) -> str:
    return " x ".join(map(str, extents))
