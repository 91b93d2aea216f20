"""Inline PTX: the instructions that upstream's ops cannot say.

Registers pass through it from tied inputs to outputs. Other files add instructions by `ptx`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..types import struct_members
from ..values import Registers
from .llvm import made_registers
from .nvvm_wgmma import wait_group

_WAIT = re.compile(r"wgmma\.wait_group\.sync\.aligned (\d+);")


@executes("llvm.inline_asm", waits=False)
def _inline_asm(op: Op) -> Any:
    text = op.string("asm_string").strip()
    wait = _WAIT.fullmatch(text)
    if text and not wait:
        raise op.refuse(f'holds assembly that the emulator does not know: "{text}"')
    outputs = [c for c in op.string("constraints").split(",") if c.startswith("=")]
    tied = [int(c) for c in op.string("constraints").split(",") if c.isdigit()]
    if sorted(tied) != list(range(len(outputs))) or len(tied) != len(op.operand_types):
        raise op.refuse(
            "has outputs that are not tied to its inputs, which the emulator does not know"
        )
    members = struct_members(op.result_types[0]) if op.result_types else []

    def step(strand: Strand, *values: Any) -> Any:
        if wait:
            wait_group(strand, int(wait[1]))
        passed = [values[tied.index(position)] for position in range(len(outputs))]
        if not passed:
            return None
        return passed[0] if members is None else _joined(strand, passed)

    return step


def _joined(strand: Strand, values: list[Any]) -> Registers:
    """Values as the registers of a struct."""
    if all(isinstance(value, Registers) for value in values):
        data = np.concatenate([value.data for value in values], axis=1)
        pending = np.max([value.pending for value in values], axis=0)
        made = made_registers(strand, data, np.ones(len(values), bool))
        return Registers(data, pending, made.stamp, made.defined)
    columns = [strand.spread(strand.checked(value)) for value in values]
    return made_registers(strand, np.stack(columns, axis=1), np.ones(len(values), bool))
