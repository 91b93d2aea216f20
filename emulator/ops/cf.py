"""cf: branches between basic blocks; divergent threads reconverge at the immediate postdominator."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

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
    target_if_true, target_if_false = op.successors

    def to(target: Block, numbers: tuple[int, ...]) -> Any:
        def action(side: ConvergentThreads) -> None:
            _go(side, target, tuple(side.read(number) for number in numbers))

        return action

    if_true, if_false = to(target_if_true, passed[0]), to(target_if_false, passed[1])

    def step(convergent: ConvergentThreads, condition: Any, *_: Any) -> None:
        frame = convergent.frames[-1]
        postdominator, waits = _postdominator(frame.block)

        def reconverge(whole: ConvergentThreads) -> None:
            if postdominator is not None and postdominator is not frame.until:
                whole.frames.append(replace(frame, block=postdominator, index=0))

        chosen = convergent.checked(condition)
        convergent.branch(chosen, if_true, if_false, waits, 1, reconverge, postdominator)

    return step


@lru_cache(maxsize=4096)
def _postdominator(block: Block) -> tuple[Block | None, bool]:
    """Return the immediate postdominator of a block (None if paths end in a return), and whether
    threads may wait on the paths to it."""
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
    # The immediate postdominator is the one that all other postdominators postdominate.
    common = after[block] - {block}
    postdominator = next((c for c in common if common <= after[c]), None)
    between = _before(block, postdominator)
    return postdominator, any(i.waits for each in between for i in each.instructions)


def _before(block: Block, postdominator: Block | None) -> list[Block]:
    """Return the blocks on the paths from a block to its immediate postdominator."""
    found = [s for s in dict.fromkeys(block.successors) if s is not postdominator]
    for each in found:
        found += [s for s in each.successors if s is not postdominator and s not in found]
    return found


@controls("cf.assert")
def _assert(op: Op) -> Any:
    message = op.string("msg")
    name, compared = op.definition_of_operand(0)

    def step(convergent: ConvergentThreads, condition: Any) -> None:
        holds = convergent.broadcast(convergent.checked(condition))
        if not holds.all():
            row = int(np.argmin(holds))
            why = ""
            if name == "arith.cmpi":
                sides = (convergent.broadcast(convergent.read(each))[row] for each in compared)
                why = ": it compares {} with {}".format(*map(_signed, sides))
            convergent.cta.report_at(
                convergent,
                ViolationKind.ASSERTION,
                f"thread {convergent.threads[row]} asserts that {message}, which is false{why}",
            )
            raise Stop

    return step


def _signed(number: Any) -> int:
    """Return an integer with its sign; an index is held without."""
    return int(number) - (1 << 64 if int(number) >> 63 else 0)
