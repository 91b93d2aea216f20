"""Which ops are barriers of the whole block."""

from typing import Any


def is_block_barrier(op: Any) -> bool:
    """Whether all threads of the block have done what comes before it, once they are past it."""
    if op.name == "gpu.barrier":
        scope = str(op.attributes["scope"]) if "scope" in op.attributes else "workgroup"
        ordered = str(op.attributes["address_spaces"]) if "address_spaces" in op.attributes else ""
        narrowed = len(op.operands) > 0 or "workgroup" not in scope
        return not narrowed and (not ordered or "workgroup" in ordered)
    return op.name == "nvvm.barrier" and not len(op.operands)
