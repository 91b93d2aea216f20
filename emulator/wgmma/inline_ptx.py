"""`wgmma` in inline PTX: forms that upstream's ops do not have, and instructions that tie registers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..errors import ViolationKind
from ..kernel import Op
from ..lanes import WARP
from ..ops.inline_ptx import (
    AsmOperands,
    join_registers,
    operands_of,
    overwritten_registers,
    pass_through,
)
from ..registry import assembles
from ..types import dtype_of
from .assembly import Assembly, parse
from .mma import execute
from .ops import fence, wait_group

_WAIT = re.compile(r"wgmma\.wait_group\.sync\.aligned (\d+);")
_FENCE = "wgmma.fence.sync.aligned;"

#: The LLVM type of the operands of each constraint.
_TYPES = {"r": "i32", "l": "i64", "f": "f32"}


@assembles
def _fence(op: Op, text: str) -> Any:
    return pass_through(op, after=fence) if text == _FENCE else None


@assembles
def _wait(op: Op, text: str) -> Any:
    match = _WAIT.fullmatch(text)
    if not match:
        return None
    pending = int(match[1])
    return pass_through(op, before=lambda convergent: wait_group(convergent, pending))


@assembles
def _multiply(op: Op, text: str) -> Any:
    try:
        multiply = parse(text)
    except ValueError as error:
        raise op.refuse(f'holds a wgmma that PTX does not have: {error}: "{text}"') from None
    return multiply and _multiply_step(op, multiply)


def _check_operands(op: Op, multiply: Assembly, operands: AsmOperands) -> None:
    """Check that an op's operands have the constraints and types that its text needs."""
    constraints = dict(enumerate(operands.outputs))
    constraints |= {
        number: operands.constraints[position] for number, position in operands.others.items()
    }
    if constraints != multiply.constraints or multiply.d != tuple(range(len(operands.outputs))):
        raise op.refuse(
            f"has the operands {_list_operands(constraints)}, but its wgmma takes "
            f"{_list_operands(multiply.constraints)}"
        )
    types = [str(type_) for type_ in op.operand_types]
    for constraint, type_text in zip(operands.constraints, types, strict=True):
        if type_text != _TYPES[constraint]:
            raise op.refuse(
                f"has an operand of type {type_text} for the constraint '{constraint}'; expected "
                f"{_TYPES[constraint]}"
            )


def _list_operands(constraints: dict[int, str]) -> str:
    return ", ".join(f"${number}: {constraints[number]}" for number in sorted(constraints))


def _multiply_step(op: Op, multiply: Assembly) -> Any:
    """Return a step that executes a `wgmma.mma_async` on the tied registers of D."""
    operands = operands_of(op)
    _check_operands(op, multiply, operands)
    op.collective = op.waits = True
    qualifiers, dtype = (
        multiply.qualifiers,
        dtype_of(op.operand_types[operands.tied[0]], op.location),
    )

    def multiplies(convergent: ConvergentThreads, passed: list[Any], others: dict[int, Any]) -> Any:
        scale_d = (
            None if multiply.scale_d is None else convergent.check_value(others[multiply.scale_d])
        )
        adds = qualifiers.accumulates if scale_d is None else bool((scale_d != 0).any())
        accumulator = (
            join_registers(convergent, passed)
            if adds
            else overwritten_registers(convergent, passed, dtype)
        )
        a = [others[number] for number in multiply.a]
        if len(a) > 1:
            a = [join_registers(convergent, a)]
            _check_a_registers(convergent, op.result_numbers[0], a[0].data)
        return execute(
            convergent,
            qualifiers,
            accumulator,
            a[0],
            others[multiply.b],
            None if multiply.metadata is None else others[multiply.metadata],
            scale_d,
        )

    return operands.step(multiplies)


def _check_a_registers(convergent: ConvergentThreads, op: int, data: np.ndarray) -> None:
    """Check that registers of A are not written while a wgmma may still read them (PTX ISA
    9.7.15.7.3)."""
    warps = convergent.lanes.threads[::WARP] // WARP
    if convergent.cta.groups.note_a(op, warps, data):
        convergent.cta.report_at(
            convergent,
            ViolationKind.OVERWRITTEN,
            "takes registers of A that were written again while a wgmma may still be reading them: "
            "smem.wait (wgmma.wait_group) is missing before the write",
        )
