"""llvm: inline PTX. The module of each instruction registers its text; this has the shared parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..kernel import Op
from ..registry import assembles, assembly_step, executes
from ..types import struct_members
from ..values import RegisterStruct
from .llvm import new_registers

#: Makes a cache policy, which does not change values.
_POLICY = re.compile(r"createpolicy\.fractional\.L2::\w+\.b64 \$0, 1\.0;")

#: Executes an instruction on its inputs: those that are tied to outputs, and the others by their
#: numbers in the text.
Action = Callable[[ConvergentThreads, list[Any], dict[int, Any]], Any]


@executes("llvm.inline_asm")
def _inline_asm(op: Op) -> Any:
    text = op.string("asm_string").strip()
    step = assembly_step(op, text)
    if not step:
        raise op.refuse(f'holds assembly that the emulator does not know: "{text}"')
    return step


@assembles
def _policy(op: Op, text: str) -> Any:
    if _POLICY.fullmatch(text) and op.string("constraints") == "=l" and not op.operand_types:
        return lambda convergent: np.zeros(1, np.uint64)
    return None


@assembles
def _nothing(op: Op, text: str) -> Any:
    return None if text else pass_through(op)


# -- for the modules of instructions ---------------------------------------------------------------


@dataclass(frozen=True)
class AsmOperands:
    """The operands of inline assembly: an input tied to each output, and others.

    Attributes:
        outputs: the constraint of each output.
        tied: the position among the op's operands of the input tied to each output.
        others: the positions of the other inputs, by their numbers in the text.
        constraints: of each input; that of a tied input is the constraint of its output.
    """

    outputs: list[str]
    tied: list[int]
    others: dict[int, int]
    constraints: list[str]

    def step(self, action: Action) -> Callable[..., Any]:
        """Return a step that executes an action on the inputs."""

        def step(convergent: ConvergentThreads, *values: Any) -> Any:
            passed = [values[position] for position in self.tied]
            return action(
                convergent, passed, {n: values[position] for n, position in self.others.items()}
            )

        return step


def operands_of(op: Op) -> AsmOperands:
    """Return the operands of an op.

    Raises:
        EmulationError: if an output is not tied to an input.
    """
    constraints = [c for c in op.string("constraints").split(",") if c and c[0] != "~"]
    outputs = [c[1:] for c in constraints if c.startswith("=")]
    inputs = constraints[len(outputs) :]
    positions = {int(c): position for position, c in enumerate(inputs) if c.isdigit()}
    if sorted(positions) != list(range(len(outputs))) or len(inputs) != len(op.operand_types):
        raise op.refuse(
            "has outputs that are not tied to its inputs, which the emulator does not know"
        )
    members = struct_members(op.result_types[0]) if op.result_types else []
    results = 1 if members is None else len(members)
    if results != len(outputs):
        raise op.refuse(f"has {len(outputs)} outputs, but a result of {results} registers")
    return AsmOperands(
        outputs,
        [positions[number] for number in range(len(outputs))],
        {len(outputs) + position: position for position, c in enumerate(inputs) if not c.isdigit()},
        [outputs[int(c)] if c.isdigit() else c for c in inputs],
    )


def pass_through(
    op: Op,
    before: Callable[[ConvergentThreads], None] | None = None,
    after: Callable[[ConvergentThreads], None] | None = None,
) -> Callable[..., Any]:
    """Return a step that returns its tied registers unchanged, and executes an instruction.

    Args:
        op: the op.
        before: executed before the registers are read.
        after: executed after the registers are read, so that they count as written before it.

    Raises:
        EmulationError: if the op has operands that are not tied.
    """
    operands = operands_of(op)
    if operands.others:
        raise op.refuse(
            f"takes {len(operands.others)} operands that are not tied to outputs; its assembly takes none"
        )
    is_struct = bool(op.result_types) and struct_members(op.result_types[0]) is not None
    if is_struct and len({str(op.operand_types[position]) for position in operands.tied}) > 1:
        raise op.refuse("gives registers of several types, which the emulator does not know")

    def passes(convergent: ConvergentThreads, passed: list[Any], _: dict[int, Any]) -> Any:
        if before:
            before(convergent)
        through = passed[0] if passed else None
        # Registers have a stamp that gives when they were written; plain arrays have none.
        if is_struct or (after and passed):
            through = join_registers(convergent, passed)
        if after:
            after(convergent)
        return through

    return operands.step(passes)


def join_registers(convergent: ConvergentThreads, values: list[Any]) -> RegisterStruct:
    """Return values as the registers of a struct. Values without a stamp count as written now: LLVM may
    compute them as late as that."""
    if all(isinstance(value, RegisterStruct) for value in values):
        data = np.concatenate([value.data for value in values], axis=1)
        pending = np.max([value.pending for value in values], axis=0)
        stamp = np.max([value.stamp for value in values], axis=0)
        return RegisterStruct(data, pending, stamp, np.ones(len(values), bool))
    columns = [convergent.broadcast(convergent.check_value(value)) for value in values]
    return new_registers(convergent, np.stack(columns, axis=1), np.ones(len(values), bool))


def overwritten_registers(
    convergent: ConvergentThreads, values: list[Any], dtype: np.dtype
) -> RegisterStruct:
    """Return the registers of an accumulator that is overwritten, so that it may be poison."""
    if all(isinstance(value, RegisterStruct) for value in values):
        return join_registers(convergent, values)
    blank = np.zeros((convergent.lanes.count, len(values)), dtype)
    return new_registers(convergent, blank, np.zeros(len(values), bool))
