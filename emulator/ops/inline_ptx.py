"""Inline PTX: the instructions that upstream's ops cannot say, and those that registers pass through."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..types import dtype_of, struct_members
from ..values import Registers
from ..wgmma.assembly import Assembly, parse
from ..wgmma.mma import execute
from ..wgmma.ops import fence, wait_group
from .llvm import made_registers

_WAIT = re.compile(r"wgmma\.wait_group\.sync\.aligned (\d+);")
_FENCE = "wgmma.fence.sync.aligned;"

#: Makes a cache policy, which no value depends on.
_POLICY = re.compile(r"createpolicy\.fractional\.L2::\w+\.b64 \$0, 1\.0;")

#: The LLVM types of what may stand in the registers that a constraint names.
_TYPES = {"r": "i32", "l": "i64", "f": "f32"}

#: What is done with an instruction's inputs: those that are tied to outputs, and the others by their
#: numbers in the text.
Action = Callable[[Strand, list[Any], dict[int, Any]], Any]


@dataclass(frozen=True)
class _Operands:
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


@executes("llvm.inline_asm")
def _inline_asm(op: Op) -> Any:
    text = op.string("asm_string").strip()
    if _POLICY.fullmatch(text) and op.string("constraints") == "=l" and not op.operand_types:
        return lambda strand: np.zeros(1, np.uint64)
    multiply, wait = _multiplication(op, text), _WAIT.fullmatch(text)
    if text and text != _FENCE and not multiply and not wait:
        raise op.refuse(f'holds assembly that the emulator does not know: "{text}"')
    operands = _operands(op)
    if multiply:
        action = _multiplying(op, multiply, operands)
    else:
        action = _passing(op, operands, text == _FENCE, int(wait[1]) if wait else None)

    def step(strand: Strand, *values: Any) -> Any:
        passed = [values[at] for at in operands.tied]
        return action(strand, passed, {n: values[at] for n, at in operands.others.items()})

    return step


def _operands(op: Op) -> _Operands:
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
    return _Operands(
        outputs,
        [positions[number] for number in range(len(outputs))],
        {len(outputs) + at: at for at, c in enumerate(inputs) if not c.isdigit()},
        [outputs[int(c)] if c.isdigit() else c for c in inputs],
    )


def _passing(op: Op, operands: _Operands, fences: bool, pending: int | None) -> Action:
    """Registers pass through an instruction, or through none.

    Args:
        op: the op.
        operands: what it takes.
        fences: whether it is `wgmma.fence`.
        pending: of `wgmma.wait_group`; None if it is none.
    """
    if operands.others:
        raise op.refuse(
            f"takes {len(operands.others)} operands beside its outputs, not what its assembly does"
        )
    is_struct = bool(op.result_types) and struct_members(op.result_types[0]) is not None
    if is_struct and len({str(op.operand_types[at]) for at in operands.tied}) > 1:
        raise op.refuse("gives registers of several types, which the emulator does not know")

    def passes(strand: Strand, passed: list[Any], _: dict[int, Any]) -> Any:
        if pending is not None:
            wait_group(strand, pending)
        through = passed[0] if passed else None
        # Whether what comes out of a fence is fenced is told by its stamp, which a bare number lacks.
        if is_struct or (fences and passed):
            through = _joined(strand, passed)
        if fences:
            fence(strand)
        return through

    return passes


def _multiplication(op: Op, text: str) -> Assembly | None:
    try:
        return parse(text)
    except ValueError as error:
        raise op.refuse(f'holds a wgmma that PTX does not have: {error}: "{text}"') from None


def _check_operands(op: Op, multiply: Assembly, operands: _Operands) -> None:
    """Checks that an instruction's operands are what its text says."""
    given = dict(enumerate(operands.outputs))
    given |= {number: operands.constraints[at] for number, at in operands.others.items()}
    if given != multiply.constraints or multiply.d != tuple(range(len(operands.outputs))):
        raise op.refuse(
            f"has the operands {_listed(given)}, but its wgmma takes {_listed(multiply.constraints)}"
        )
    types = [str(type_) for type_ in op.operand_types]
    for constraint, found in zip(operands.constraints, types, strict=True):
        if found != _TYPES[constraint]:
            raise op.refuse(
                f"has an operand of type {found} for the constraint '{constraint}'; expected "
                f"{_TYPES[constraint]}"
            )


def _listed(constraints: dict[int, str]) -> str:
    return ", ".join(f"${number}: {constraints[number]}" for number in sorted(constraints))


def _multiplying(op: Op, multiply: Assembly, operands: _Operands) -> Action:
    """Registers pass through a `wgmma.mma_async`."""
    _check_operands(op, multiply, operands)
    op.collective = op.waits = True
    form, dtype = multiply.form, dtype_of(op.operand_types[operands.tied[0]], op.location)

    def multiplies(strand: Strand, passed: list[Any], others: dict[int, Any]) -> Any:
        scale_d = None if multiply.scale_d is None else strand.checked(others[multiply.scale_d])
        adds = form.accumulates if scale_d is None else bool((scale_d != 0).any())
        accumulator = _joined(strand, passed) if adds else _overwritten(strand, passed, dtype)
        a = [others[number] for number in multiply.a]
        return execute(
            strand,
            form,
            accumulator,
            _joined(strand, a) if len(a) > 1 else a[0],
            others[multiply.b],
            None if multiply.metadata is None else others[multiply.metadata],
            scale_d,
        )

    return multiplies


def _joined(strand: Strand, values: list[Any]) -> Registers:
    """Values as the registers of a struct. Those of which it is not known when they were written
    count as written now: LLVM may compute them wherever nothing holds them back."""
    if all(isinstance(value, Registers) for value in values):
        data = np.concatenate([value.data for value in values], axis=1)
        pending = np.max([value.pending for value in values], axis=0)
        stamp = np.max([value.stamp for value in values], axis=0)
        return Registers(data, pending, stamp, np.ones(len(values), bool))
    columns = [strand.spread(strand.checked(value)) for value in values]
    return made_registers(strand, np.stack(columns, axis=1), np.ones(len(values), bool))


def _overwritten(strand: Strand, values: list[Any], dtype: np.dtype) -> Registers:
    """The registers of an accumulator that nobody looks at, so that they may be poison."""
    if all(isinstance(value, Registers) for value in values):
        return _joined(strand, values)
    blank = np.zeros((strand.lanes.count, len(values)), dtype)
    return made_registers(strand, blank, np.zeros(len(values), bool))
