"""Ops that are barriers of the whole CTA."""

from ..dialect.irtypes import Op


def is_cta_barrier(op: Op) -> bool:
    """Whether an op waits for all threads of the CTA, and orders their accesses of shared memory."""
    if op.name == "gpu.barrier":
        scope = str(op.attributes["scope"]) if "scope" in op.attributes else "workgroup"
        ordered = str(op.attributes["address_spaces"]) if "address_spaces" in op.attributes else ""
        narrowed = len(op.operands) > 0 or "workgroup" not in scope
        return not narrowed and (not ordered or "workgroup" in ordered)
    return op.name == "nvvm.barrier" and not len(op.operands)
