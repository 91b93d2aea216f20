"""llvm: inline PTX, of which each instruction's file says what its text does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convergent import ConvergentThreads
from ..program import Op
from ..registry import assembled, assembles, executes
from ..types import struct_members
from ..values import Registers
from .llvm import new_registers

#: Makes a cache policy, which no value depends on.
_POLICY = re.compile(r"createpolicy\.fractional\.L2::\w+\.b64 \$0, 1\.0;")

#: What is done with an instruction's inputs: those that are tied to outputs, and the others by their
#: numbers in the text.
Action = Callable[[ConvergentThreads, list[Any], dict[int, Any]], Any]


@executes("llvm.inline_asm")
def _inline_asm(op: Op) -> Any:
    text = op.string("asm_string").strip()
    step = assembled(op, text)
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


# -- for the files of instructions -----------------------------------------------------------------


@dataclass(frozen=True)
class Operands:
    """What assembly takes: an input for each of its outputs, in the same register, and others.

    Attributes:
        outputs: the constraints of its outputs.
        tied: where in the op's operands the input of each output is.
        others: where the other inputs are, by their numbers in the text.
        constraints: of each input; those of tied ones are their outputs'.
    """

    outputs: list[str]
    tied: list[int]
    others: dict[int, int]
    constraints: list[str]

    def step(self, action: Action) -> Callable[..., Any]:
        """A step that gives an action its inputs."""

        def step(convergent: ConvergentThreads, *values: Any) -> Any:
            passed = [values[at] for at in self.tied]
            return action(convergent, passed, {n: values[at] for n, at in self.others.items()})

        return step


def operands_of(op: Op) -> Operands:
    """The operands of an op.

    Raises:
        EmulationError: if its outputs are not all tied to inputs.
    """
    constraints = [c for c in op.string("constraints").split(",") if c and c[0] != "~"]
    outputs = [c[1:] for c in constraints if c.startswith("=")]
    inputs = constraints[len(outputs) :]
    positions = {int(c): at for at, c in enumerate(inputs) if c.isdigit()}
    if sorted(positions) != list(range(len(outputs))) or len(inputs) != len(op.operand_types):
        raise op.refuse(
            "has outputs that are not tied to its inputs, which the emulator does not know"
        )
    members = struct_members(op.result_types[0]) if op.result_types else []
    results = 1 if members is None else len(members)
    if results != len(outputs):
        raise op.refuse(f"has {len(outputs)} outputs, but a result of {results} registers")
    return Operands(
        outputs,
        [positions[number] for number in range(len(outputs))],
        {len(outputs) + at: at for at, c in enumerate(inputs) if not c.isdigit()},
        [outputs[int(c)] if c.isdigit() else c for c in inputs],
    )


def pass_through(
    op: Op,
    before: Callable[[ConvergentThreads], None] | None = None,
    after: Callable[[ConvergentThreads], None] | None = None,
) -> Callable[..., Any]:
    """A step by which registers pass through an instruction, or through none.

    Args:
        op: the op.
        before: the instruction, if the registers are taken after it.
        after: the instruction, if they are taken before it, so that it tells when they were written.

    Raises:
        EmulationError: if the op is none of that kind.
    """
    operands = operands_of(op)
    if operands.others:
        raise op.refuse(
            f"takes {len(operands.others)} operands beside its outputs, not what its assembly does"
        )
    is_struct = bool(op.result_types) and struct_members(op.result_types[0]) is not None
    if is_struct and len({str(op.operand_types[at]) for at in operands.tied}) > 1:
        raise op.refuse("gives registers of several types, which the emulator does not know")

    def passes(convergent: ConvergentThreads, passed: list[Any], _: dict[int, Any]) -> Any:
        if before:
            before(convergent)
        through = passed[0] if passed else None
        # When a value was written is told by a stamp, which a bare number lacks.
        if is_struct or (after and passed):
            through = join_registers(convergent, passed)
        if after:
            after(convergent)
        return through

    return operands.step(passes)


def join_registers(convergent: ConvergentThreads, values: list[Any]) -> Registers:
    """Values as the registers of a struct. Those of which it is not known when they were written
    count as written now: LLVM may compute them wherever nothing holds them back."""
    if all(isinstance(value, Registers) for value in values):
        data = np.concatenate([value.data for value in values], axis=1)
        pending = np.max([value.pending for value in values], axis=0)
        stamp = np.max([value.stamp for value in values], axis=0)
        return Registers(data, pending, stamp, np.ones(len(values), bool))
    columns = [convergent.broadcast(convergent.checked(value)) for value in values]
    return new_registers(convergent, np.stack(columns, axis=1), np.ones(len(values), bool))


def overwritten_registers(
    convergent: ConvergentThreads, values: list[Any], dtype: np.dtype
) -> Registers:
    """The registers of an accumulator that nobody looks at, so that they may be poison."""
    if all(isinstance(value, Registers) for value in values):
        return join_registers(convergent, values)
    blank = np.zeros((convergent.lanes.count, len(values)), dtype)
    return new_registers(convergent, blank, np.zeros(len(values), bool))
