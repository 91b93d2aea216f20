"""Ops of other dialects that are barriers of the whole CTA, or of the cluster."""

from ..bindings.irtypes import Op


def is_cta_barrier(op: Op) -> bool:
    """Whether an op waits for all threads of the CTA, and orders their accesses of shared memory."""
    if op.name == "gpu.barrier":
        scope = str(op.attributes["scope"]) if "scope" in op.attributes else "workgroup"
        ordered = str(op.attributes["address_spaces"]) if "address_spaces" in op.attributes else ""
        narrowed = len(op.operands) > 0 or "workgroup" not in scope
        return not narrowed and (not ordered or "workgroup" in ordered)
    return op.name == "nvvm.barrier" and not len(op.operands)


def is_cluster_barrier(op: Op) -> bool:
    """Whether an op is the wait of a barrier of the cluster: `nvvm.cluster.wait`, directly after the
    arrival of the same threads, which releases what they have written."""
    return op.name == _WAIT and _has_name(_neighbour(op, -1), _ARRIVE)


def begins_cluster_barrier(op: Op) -> bool:
    """Whether an op is the arrival of a barrier of the cluster, directly before its wait."""
    return op.name == _ARRIVE and _has_name(_neighbour(op, 1), _WAIT)


_ARRIVE, _WAIT = "nvvm.cluster.arrive", "nvvm.cluster.wait"


def _has_name(op: Op | None, name: str) -> bool:
    return op is not None and op.name == name


def _neighbour(op: Op, distance: int) -> Op | None:
    """Return the op that stands so many places after another one in its block."""
    ops = [inner.operation for inner in op.operation.block.operations]
    index = ops.index(op.operation) + distance
    return ops[index] if 0 <= index < len(ops) else None
