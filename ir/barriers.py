"""Barriers of the whole CTA."""

from ..dialect.irtypes import Op


def is_block_barrier(op: Op) -> bool:
    """Whether an op is a barrier of all threads of the CTA that orders accesses of shared memory."""
    if op.name == "gpu.barrier":
        scope = str(op.attributes["scope"]) if "scope" in op.attributes else "workgroup"
        ordered = str(op.attributes["address_spaces"]) if "address_spaces" in op.attributes else ""
        narrowed = len(op.operands) > 0 or "workgroup" not in scope
        return not narrowed and (not ordered or "workgroup" in ordered)
    return op.name == "nvvm.barrier" and not len(op.operands)
