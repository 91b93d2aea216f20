"""Accumulators with a condition under which they are added (`scale-d`)."""

from ...bindings.irtypes import Value
from ...dialect.ops import ScaleDOp


def split_scale_d(accumulator: Value) -> tuple[Value, Value]:
    """Return the accumulator without `smem.scale_d`, and its condition (i1) if it has one."""
    owner = None if accumulator is None else accumulator.owner
    if not isinstance(owner, ScaleDOp):
        return accumulator, None
    return owner.accumulator, owner.keep
