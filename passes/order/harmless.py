"""Ops of other dialects that order no accesses of tiles; those of this dialect declare their effects."""

from ...bindings.irtypes import Op

#: Dialects whose ops order nothing, and ops of other dialects that order nothing.
_HARMLESS_DIALECTS = {
    "affine",
    "arith",
    "builtin",
    "complex",
    "index",
    "math",
    "memref",
    "ub",
    "vector",
}
_HARMLESS = {
    "cf.assert",
    "func.return",
    "gpu.block_dim",
    "gpu.block_id",
    "gpu.cluster_block_id",
    "gpu.cluster_dim",
    "gpu.cluster_id",
    "gpu.dynamic_shared_memory",
    "gpu.global_id",
    "gpu.grid_dim",
    "gpu.lane_id",
    "gpu.num_subgroups",
    "gpu.printf",
    "gpu.return",
    "gpu.shuffle",
    "gpu.subgroup_id",
    "gpu.subgroup_size",
    "gpu.thread_id",
    "nvgpu.device_async_copy",
    "nvgpu.ldmatrix",
    "nvgpu.mbarrier.create",
    "nvgpu.tma.prefetch.descriptor",
    "nvvm.griddepcontrol",
    "scf.yield",
}


def is_harmless(op: Op) -> bool:
    """Whether an op neither accesses tiles nor orders the accesses of other ops."""
    dialect = op.name.partition(".")[0]
    return op.name in _HARMLESS or dialect in _HARMLESS_DIALECTS or _is_pure(op)


def _is_pure(op: Op) -> bool:
    """Whether an op of the `llvm` or `nvvm` dialect orders nothing."""
    if op.name == "llvm.inline_asm":
        return "has_side_effects" not in op.attributes
    if op.name.startswith("llvm."):
        return op.name not in ("llvm.call", "llvm.call_intrinsic", "llvm.fence", "llvm.inline_asm")
    return op.name.startswith("nvvm.read.")
