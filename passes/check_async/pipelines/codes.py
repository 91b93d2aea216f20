"""The threads of execution of a kernel: one for each partition, or each warpgroup that takes turns."""

from __future__ import annotations

from collections.abc import Iterable

from ....bindings.irtypes import Op
from ..values import Values
from .instructions import Code, Instructions, Kind
from .ops import Ops
from .partition import Partition
from .pipeline_sides import PipelineSide, Side
from .taken import AllTurns, Turns


def codes_of(
    bodies: Iterable[tuple[Partition, list[Op]]], ops: Ops, values: Values
) -> tuple[list[Code], AllTurns]:
    """Return what the threads of execution do, and where warpgroups take indices in turn.

    Args:
        bodies: the ops of each partition.
        ops: facts about ops.
        values: the integers of the function.
    """
    instructions, codes, turns = Instructions(ops), [], {}
    for partition, body in bodies:
        code = Code(partition, None, instructions.of(body))
        own = {(partition, side): each for side, each in _turns_of(code, values).items()}
        turns |= own
        alone = not own and not any(x.kind is Kind.TURN for x in code.instructions)
        numbers = [None] if alone else range(partition.warpgroups or 1)
        codes += [code._replace(warpgroup=number) for number in numbers]
    return codes, turns


def _turns_of(code: Code, values: Values) -> dict[PipelineSide, Turns]:
    """Return the pipeline sides whose indices the warpgroups of a partition take in turn: the first index
    of each is a multiple of its number."""
    symbol, turns = code.partition.symbol, {}
    if symbol is None:
        return {}
    first = {}
    for instruction in code.instructions:
        if instruction.kind is Kind.WAIT:
            first.setdefault(instruction.side, values.of(instruction.op.index))
    for side, index in first.items():
        split = index.split(symbol)
        if side.side is Side.CONSUMER and split is not None and split[0] > 0:
            chunk = split[0]
            turns[side] = Turns(chunk, ((code.partition.warpgroups or 1) - 1) * chunk)
    return turns
