"""Accumulators that count only if a condition holds."""

from typing import Any

from ...dialect.ops import ScaleDOp


def scaled(accumulator: Any) -> tuple[Any, Any]:
    """The accumulator, and the condition under which it counts (i1) if it has one."""
    made = None if accumulator is None else accumulator.owner
    if not isinstance(made, ScaleDOp):
        return accumulator, None
    return made.accumulator, made.keep
