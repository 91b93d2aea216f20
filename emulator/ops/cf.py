"""cf: branches between blocks; threads that part meet where all their ways lead."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..convergent import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..program import Block, Op
from ..registry import controls


def _go(convergent: ConvergentThreads, target: Block, values: tuple[Any, ...] = ()) -> None:
    frame = convergent.frames[-1]
    if values:
        convergent.write_all(target.arguments, values)
    if target is frame.until:
        convergent.frames.clear()
    else:
        frame.block, frame.index = target, 0


@controls("cf.br", "llvm.br")
def _branch(op: Op) -> Any:
    def step(convergent: ConvergentThreads, *values: Any) -> None:
        _go(convergent, op.successors[0], values)

    return step


@controls("cf.cond_br", "llvm.cond_br")
def _conditional(op: Op) -> Any:
    _, first, second = op.numbers("operandSegmentSizes")
    passed = op.operand_numbers[1 : 1 + first], op.operand_numbers[1 + first :][:second]
    yes, no = op.successors

    def to(target: Block, numbers: tuple[int, ...]) -> Any:
        def action(side: ConvergentThreads) -> None:
            _go(side, target, tuple(side.read(number) for number in numbers))

        return action

    take = to(yes, passed[0]), to(no, passed[1])

    def step(convergent: ConvergentThreads, condition: Any, *_: Any) -> None:
        frame = convergent.frames[-1]
        meeting, waits = _meeting(frame.block)

        def meet(whole: ConvergentThreads) -> None:
            if meeting is not None and meeting is not frame.until:
                whole.frames.append(replace(frame, block=meeting, index=0))

        chosen = convergent.broadcast(convergent.checked(condition))
        masks = convergent.lanes.where(chosen), convergent.lanes.where(~chosen)
        convergent.branch(list(zip(masks, take, strict=True)), waits, 1, meet, meeting)

    return step


@lru_cache(maxsize=4096)
def _meeting(block: Block) -> tuple[Block | None, bool]:
    """The first block that every way from a branch leads to (None if they end in a return), and
    whether threads may wait on the ways there."""
    reachable: list[Block] = [block]
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
    common = after[block] - {block}
    meeting = next((c for c in common if common <= after[c]), None)
    between = _before(block, meeting)
    return meeting, any(i.waits for each in between for i in each.instructions)


def _before(block: Block, meeting: Block | None) -> list[Block]:
    """The blocks on the ways from a branch to where they meet."""
    found = [s for s in dict.fromkeys(block.successors) if s is not meeting]
    for each in found:
        found += [s for s in each.successors if s is not meeting and s not in found]
    return found


@controls("cf.assert")
def _assert(op: Op) -> Any:
    message = op.string("msg")

    def step(convergent: ConvergentThreads, condition: Any) -> None:
        if not convergent.checked(condition).all():
            convergent.cta.report_at(
                convergent, ViolationKind.ASSERTION, f"asserts that {message}, which is false"
            )
            raise Stop

    return step
