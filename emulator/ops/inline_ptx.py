"""Inline PTX: the instructions that upstream's ops cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..multiplicands import MULTIPLICANDS
from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..types import struct_members
from ..values import Registers
from ..wgmma import ACCUMULATORS, Form, execute
from .llvm import made_registers
from .nvvm_wgmma import wait_group

_WAIT = re.compile(r"wgmma\.wait_group\.sync\.aligned (\d+);")
_MULTIPLY = re.compile(
    r"\{\s*\.reg \.pred p;\s*setp\.ne\.b32 p, (?P<adds>[01]), 0;\s*"
    r"wgmma\.mma_async\.sync\.aligned\.m64n(?P<n>\d+)k256\.s32\.b1\.b1\.and\.popc "
    r"\{[$\d, ]+\}, \$\d+, \$\d+, p;\s*\}"
)

#: What is done with an instruction's inputs: those that are tied to outputs, and the others.
Action = Callable[[Strand, list[Any], list[Any]], Any]


@executes("llvm.inline_asm")
def _inline_asm(op: Op) -> Any:
    text = op.string("asm_string").strip()
    if text and not _WAIT.fullmatch(text) and not _MULTIPLY.fullmatch(text):
        raise op.refuse(f'holds assembly that the emulator does not know: "{text}"')
    constraints = [c for c in op.string("constraints").split(",") if not c.startswith("~")]
    outputs = [c for c in constraints if c.startswith("=")]
    inputs = constraints[len(outputs) :]
    tied = [int(c) for c in inputs if c.isdigit()]
    if sorted(tied) != list(range(len(outputs))) or len(inputs) != len(op.operand_types):
        raise op.refuse(
            "has outputs that are not tied to its inputs, which the emulator does not know"
        )
    action = _action(op, text, len(inputs) - len(tied))

    def step(strand: Strand, *values: Any) -> Any:
        passed = [values[inputs.index(str(position))] for position in range(len(outputs))]
        others = [v for v, c in zip(values, inputs, strict=True) if not c.isdigit()]
        return action(strand, passed, others)

    return step


def _action(op: Op, text: str, others: int) -> Action:
    """What the assembly does."""
    is_struct = bool(op.result_types) and struct_members(op.result_types[0]) is not None

    def passed_on(strand: Strand, passed: list[Any]) -> Any:
        if not passed:
            return None
        return _joined(strand, passed) if is_struct else passed[0]

    wait, multiply = _WAIT.fullmatch(text), _MULTIPLY.fullmatch(text)
    if not text and not others:
        return lambda strand, passed, _: passed_on(strand, passed)
    if wait and not others:

        def waits(strand: Strand, passed: list[Any], _: list[Any]) -> Any:
            wait_group(strand, int(wait[1]))
            return passed_on(strand, passed)

        return waits
    if multiply and others == 2:
        bits = MULTIPLICANDS["b1"]
        adds = multiply["adds"] == "1"
        form = Form(int(multiply["n"]), bits, bits, ACCUMULATORS["s32"], accumulates=adds)
        op.collective = op.waits = True
        return lambda strand, passed, ab: execute(strand, form, _joined(strand, passed, adds), *ab)
    raise op.refuse(f"takes {others} operands beside its outputs, not what its assembly does")


def _joined(strand: Strand, values: list[Any], looked_at: bool = True) -> Registers:
    """Values as the registers of a struct; those that nobody looks at may be poison."""
    if all(isinstance(value, Registers) for value in values):
        data = np.concatenate([value.data for value in values], axis=1)
        pending = np.max([value.pending for value in values], axis=0)
        stamp = np.max([value.stamp for value in values], axis=0)
        return Registers(data, pending, stamp, np.ones(len(values), bool))
    if not looked_at:
        blank = np.zeros((strand.lanes.count, len(values)), np.uint32)
        return made_registers(strand, blank, np.zeros(len(values), bool))
    columns = [strand.spread(strand.checked(value)) for value in values]
    return made_registers(strand, np.stack(columns, axis=1), np.ones(len(values), bool))
