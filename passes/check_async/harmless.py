"""Which ops of other dialects put no accesses of tiles in order; ours declare it."""

from typing import Any

#: Dialects whose ops order nothing, and the ops of others that order nothing.
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
    "gpu.subgroup_id",
    "gpu.subgroup_size",
    "gpu.thread_id",
    "nvvm.griddepcontrol",
    "scf.yield",
}


def is_harmless(op: Any) -> bool:
    """Whether an op neither accesses tiles nor orders accesses of others."""
    dialect = op.name.partition(".")[0]
    return op.name in _HARMLESS or dialect in _HARMLESS_DIALECTS or _is_pure(op)


def _is_pure(op: Any) -> bool:
    """Whether an op of the GPU's own dialects orders nothing."""
    if op.name == "llvm.inline_asm":
        return "has_side_effects" not in op.attributes
    if op.name.startswith("llvm."):
        return op.name not in ("llvm.call", "llvm.call_intrinsic", "llvm.fence", "llvm.inline_asm")
    return op.name.startswith("nvvm.read.")
