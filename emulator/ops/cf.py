"""cf: branches between blocks; threads that part meet where all their ways lead."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..errors import Kind, Stop
from ..program import Code, Op
from ..registry import controls
from ..strand import Strand


def _go(strand: Strand, target: Code, values: tuple[Any, ...] = ()) -> None:
    frame = strand.frames[-1]
    if values:
        strand.write_all(target.arguments, values)
    if target is frame.until:
        strand.frames.clear()
    else:
        frame.code, frame.index = target, 0


@controls("cf.br", "llvm.br")
def _branch(op: Op) -> Any:
    def step(strand: Strand, *values: Any) -> None:
        _go(strand, op.successors[0], values)

    return step


@controls("cf.cond_br", "llvm.cond_br")
def _conditional(op: Op) -> Any:
    _, first, second = op.numbers("operandSegmentSizes")
    passed = op.operand_numbers[1 : 1 + first], op.operand_numbers[1 + first :][:second]
    yes, no = op.successors

    def to(target: Code, numbers: tuple[int, ...]) -> Any:
        def action(side: Strand) -> None:
            _go(side, target, tuple(side.read(number) for number in numbers))

        return action

    take = to(yes, passed[0]), to(no, passed[1])

    def step(strand: Strand, condition: Any, *_: Any) -> None:
        frame = strand.frames[-1]
        meeting, waits = _meeting(frame.code)

        def meet(whole: Strand) -> None:
            if meeting is not None and meeting is not frame.until:
                whole.frames.append(replace(frame, code=meeting, index=0))

        chosen = strand.spread(strand.checked(condition))
        masks = strand.lanes.where(chosen), strand.lanes.where(~chosen)
        strand.branch(list(zip(masks, take, strict=True)), waits, 1, meet, meeting)

    return step


@lru_cache(maxsize=4096)
def _meeting(code: Code) -> tuple[Code | None, bool]:
    """The first block that every way from a branch leads to (None if they end in a return), and
    whether threads may wait on the ways there."""
    reachable: list[Code] = [code]
    for each in reachable:
        reachable += [s for s in each.successors if s not in reachable]
    everything = set(reachable)
    after = {each: set(everything) if each.successors else {each} for each in reachable}
    changed = True
    while changed:
        changed = False
        for each in reachable:
            if each.successors:
                common = set.intersection(*(after[s] for s in each.successors)) | {each}
                changed |= common != after[each]
                after[each] = common
    # Of the blocks that all ways lead to, the first is followed by all others.
    common = after[code] - {code}
    meeting = next((c for c in common if common <= after[c]), None)
    between = _before(code, meeting)
    return meeting, any(i.waits for each in between for i in each.instructions)


def _before(code: Code, meeting: Code | None) -> list[Code]:
    """The blocks on the ways from a branch to where they meet."""
    found = [s for s in dict.fromkeys(code.successors) if s is not meeting]
    for each in found:
        found += [s for s in each.successors if s is not meeting and s not in found]
    return found


@controls("cf.assert")
def _assert(op: Op) -> Any:
    message = op.string("msg")

    def step(strand: Strand, condition: Any) -> None:
        if not strand.checked(condition).all():
            strand.block.report_at(
                strand, Kind.ASSERTION, f"asserts that {message}, which is false"
            )
            raise Stop

    return step
