"""scf: threads that disagree split, and meet at the end of the op."""

from typing import Any

import numpy as np

from ..program import Op, Region
from ..registry import controls
from ..strand import Frame, Strand
from ..types import signed


def _nothing(strand: Strand) -> None:
    """The sides of an op meet right after it, where the strand already is."""


def _condition(strand: Strand, value: Any) -> np.ndarray:
    return strand.spread(strand.checked(value))


@controls("scf.yield")
def _yield(op: Op) -> Any:
    def step(strand: Strand, *values: Any) -> None:
        leave = strand.frames[-1].leave
        assert leave is not None
        leave(strand, values)

    return step


@controls("scf.if")
def _if(op: Op) -> Any:
    results = op.result_numbers
    waits = any(region.waits for region in op.regions)

    def leave(strand: Strand, values: tuple[Any, ...]) -> None:
        strand.frames.pop()
        strand.write_all(results, values)

    def enter(region: Region | None) -> Any:
        return (
            (lambda strand: strand.frames.append(Frame(region.entry, leave=leave)))
            if region
            else _nothing
        )

    yes, no = (enter(region) for region in (*op.regions, None)[:2])

    def step(strand: Strand, condition: Any) -> None:
        chosen = _condition(strand, condition)
        sides = [(strand.lanes.where(chosen), yes), (strand.lanes.where(~chosen), no)]
        strand.branch(sides, waits, 0, _nothing)

    return step


@controls("scf.for")
def _for(op: Op) -> Any:
    body, results = op.regions[0], op.result_numbers
    counter, *carried = body.entry.arguments
    limit, stride = op.hidden(), op.hidden()
    unsigned = op.has("unsignedCmp")

    def go_on(strand: Strand, own: int, again: Any, done: Any) -> None:
        now, end = strand.read(counter), strand.read(limit)
        inside = now < end if unsigned else signed(now) < signed(end)
        inside = strand.spread(inside)
        sides = [(strand.lanes.where(inside), again), (strand.lanes.where(~inside), done)]
        strand.branch(sides, body.waits, own, _nothing)

    def results_from(strand: Strand) -> None:
        strand.write_all(results, [strand.read(number) for number in carried])

    def enter(strand: Strand) -> None:
        strand.frames.append(Frame(body.entry, leave=leave))

    def again(strand: Strand) -> None:
        strand.frames[-1].index = 0

    def done(strand: Strand) -> None:
        strand.frames.pop()
        results_from(strand)

    def leave(strand: Strand, values: tuple[Any, ...]) -> None:
        strand.write(counter, strand.read(counter) + strand.read(stride))
        strand.write_all(carried, values)
        go_on(strand, 1, again, done)

    def step(strand: Strand, lower: Any, upper: Any, by: Any, *initial: Any) -> None:
        for number, value in ((counter, lower), (limit, upper), (stride, by)):
            strand.write(number, strand.checked(value))
        strand.write_all(carried, initial)
        go_on(strand, 0, enter, results_from)

    return step


@controls("scf.while")
def _while(op: Op) -> Any:
    before, after = op.regions
    results = op.result_numbers
    waits = before.waits or after.waits

    def enter_before(strand: Strand, values: tuple[Any, ...]) -> None:
        strand.write_all(before.entry.arguments, values)
        strand.frames.append(Frame(before.entry, leave=decide))

    def again(strand: Strand, values: tuple[Any, ...]) -> None:
        strand.frames.pop()
        enter_before(strand, values)

    def decide(strand: Strand, values: tuple[Any, ...]) -> None:
        condition, *forwarded = values
        chosen = _condition(strand, condition)
        # Each side takes its own threads' values, so they wait where all can read them.
        strand.write_all(after.entry.arguments, forwarded)
        sides = [(strand.lanes.where(chosen), go_on), (strand.lanes.where(~chosen), done)]
        strand.branch(sides, waits, 1, _nothing)

    def go_on(strand: Strand) -> None:
        strand.frames[-1] = Frame(after.entry, leave=again)

    def done(strand: Strand) -> None:
        strand.frames.pop()
        strand.write_all(results, [strand.read(number) for number in after.entry.arguments])

    def step(strand: Strand, *initial: Any) -> None:
        enter_before(strand, initial)

    return step


@controls("scf.condition")
def _condition_op(op: Op) -> Any:
    return _yield(op)
