"""Predicated instructions: threads whose predicate is false skip them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .cta import ConvergentThreads
from .kernel import Op

#: A step that waits for nothing, of an op without results.
Step = Callable[..., Any]


def predicate_step(op: Op, step: Step) -> Step:
    """Return the step of an op whose last operand is a predicate, from the step without it."""
    *numbers, _ = op.operand_numbers

    def for_some(convergent: ConvergentThreads, *values: Any) -> None:
        chosen = convergent.broadcast(convergent.check_value(values[-1])).astype(bool)
        if chosen.any():
            part = convergent.part(chosen)
            step(part, *map(part.read, numbers))

    return for_some
