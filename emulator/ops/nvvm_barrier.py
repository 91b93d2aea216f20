"""nvvm: barriers of a CTA or of some of its threads, and proxy fences."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..kernel import Op
from ..lanes import partial_warps
from ..registry import assembles, executes
from ..rules.barriers import barriers_of

#: The result, the barrier, and the predicate of the reducing barrier.
_ANY = re.compile(r"barrier\.cta\.red\.or\.pred \$0, \$1, (\d+), \$2;")


def _uniform_operands(convergent: ConvergentThreads, values: list[Any]) -> list[int] | None:
    """Return the operands of an instruction, which must be the same for all threads of a warp. If they
    differ between warps, these diverge and execute it again; return None.

    Raises:
        Stop: if they differ within a warp.
    """
    operands = [convergent.broadcast(convergent.check_value(value)) for value in values]
    if all((numbers == numbers[0]).all() for numbers in operands):
        return [int(numbers[0]) for numbers in operands]
    distinct, which = np.unique(np.stack(operands), axis=1, return_inverse=True)
    masks = [convergent.lanes.where(which.reshape(-1) == i) for i in range(distinct.shape[1])]
    if any(len(partial_warps(mask | ~convergent.lanes.mask)) for mask in masks):
        convergent.cta.report_at(
            convergent,
            ViolationKind.DIVERGENT,
            "has a barrier number or a number of threads that threads of a warp disagree on",
        )
        raise Stop
    convergent.diverge([(mask, ConvergentThreads.repeat) for mask in masks])
    return None


@executes("nvvm.barrier", "nvvm.barrier0", waits=True)
def _barrier(op: Op) -> Any:
    has_id, has_count = (0, 0)
    if op.has("operandSegmentSizes"):
        has_id, has_count, *others = op.numbers("operandSegmentSizes")
        if any(others):
            raise op.refuse("reduces a predicate, which the emulator does not know")

    def step(convergent: ConvergentThreads, *values: Any) -> None:
        operands = _uniform_operands(convergent, list(values))
        if operands is not None:
            number = operands[0] if has_id else 0
            count = operands[-1] if has_count else None
            barriers_of(convergent.cta).arrive(convergent, number, count, wait=True)

    return step


@assembles
def _any(op: Op, text: str) -> Any:
    """`barrier.cta.red.or.pred`: a barrier whose result is whether a predicate is true for any thread."""
    match = _ANY.fullmatch(text)
    if not match or op.string("constraints") != "=b,r,b,~{memory}":
        return None
    count = int(match[1])
    op.waits = True

    def step(convergent: ConvergentThreads, number: Any, predicate: Any) -> None:
        operands = _uniform_operands(convergent, [number])
        if operands is not None:
            is_true = bool(convergent.broadcast(convergent.check_value(predicate)).any())
            barriers_of(convergent.cta).arrive(convergent, operands[0], count, True, is_true)

    return step


@executes("nvvm.barrier.arrive")
def _arrive(op: Op) -> Any:
    has_id = len(op.operand_types) == 2

    def step(convergent: ConvergentThreads, *values: Any) -> None:
        operands = _uniform_operands(convergent, list(values))
        if operands is not None:
            number = operands[0] if has_id else 0
            barriers_of(convergent.cta).arrive(convergent, number, operands[-1], wait=False)

    return step


@executes("nvvm.fence.proxy")
def _proxy_fence(op: Op) -> Any:
    kind = op.text("kind")
    if "async" not in kind:
        raise op.refuse(f"is of kind {kind}, which the emulator does not know")
    if "global" in kind:
        return lambda convergent: None
    return lambda convergent: convergent.cta.clocks.fence(convergent.threads)
