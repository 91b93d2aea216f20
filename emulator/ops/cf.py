"""cf: branches between basic blocks; divergent threads reconverge at the immediate postdominator."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..kernel import DecodedBlock, Op
from ..registry import controls


def _go_to(
    convergent: ConvergentThreads, target: DecodedBlock, values: tuple[Any, ...] = ()
) -> None:
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
        _go_to(convergent, op.successors[0], values)

    return step


@controls("cf.cond_br", "llvm.cond_br")
def _conditional(op: Op) -> Any:
    _, first, second = op.numbers("operandSegmentSizes")
    passed = op.operand_numbers[1 : 1 + first], op.operand_numbers[1 + first :][:second]
    target_if_true, target_if_false = op.successors

    def to(target: DecodedBlock, numbers: tuple[int, ...]) -> Any:
        def action(side: ConvergentThreads) -> None:
            _go_to(side, target, tuple(side.read(number) for number in numbers))

        return action

    if_true, if_false = to(target_if_true, passed[0]), to(target_if_false, passed[1])

    def step(convergent: ConvergentThreads, condition: Any, *_: Any) -> None:
        frame = convergent.frames[-1]
        postdominator, waits = _postdominator(frame.block)

        def reconverge(whole: ConvergentThreads) -> None:
            if postdominator is not None and postdominator is not frame.until:
                whole.frames.append(replace(frame, block=postdominator, index=0))

        chosen = convergent.check_value(condition)
        convergent.branch(chosen, if_true, if_false, waits, 1, reconverge, postdominator)

    return step


@lru_cache(maxsize=4096)
def _postdominator(block: DecodedBlock) -> tuple[DecodedBlock | None, bool]:
    """Return the immediate postdominator of a block (None if paths end in a return), and whether
    threads may wait on the paths to it."""
    reachable: list[DecodedBlock] = [block]
    for node in reachable:
        reachable += [s for s in node.successors if s not in reachable]
    everything = set(reachable)
    after = {node: set(everything) if node.successors else {node} for node in reachable}
    changed = True
    while changed:
        changed = False
        for node in reachable:
            if node.successors:
                common = set.intersection(*(after[s] for s in node.successors)) | {node}
                changed |= common != after[node]
                after[node] = common
    # The immediate postdominator is the one that all other postdominators postdominate.
    common = after[block] - {block}
    postdominator = next((c for c in common if common <= after[c]), None)
    between = _before(block, postdominator)
    return postdominator, any(i.waits for node in between for i in node.instructions)


def _before(block: DecodedBlock, postdominator: DecodedBlock | None) -> list[DecodedBlock]:
    """Return the blocks on the paths from a block to its immediate postdominator."""
    between = [s for s in dict.fromkeys(block.successors) if s is not postdominator]
    for node in between:
        between += [s for s in node.successors if s is not postdominator and s not in between]
    return between


@controls("cf.assert")
def _assert(op: Op) -> Any:
    message = op.string("msg")
    name, compared = op.definition_of_operand(0)

    def step(convergent: ConvergentThreads, condition: Any) -> None:
        holds = convergent.broadcast(convergent.check_value(condition))
        if not holds.all():
            row = int(np.argmin(holds))
            why = ""
            if name == "arith.cmpi":
                sides = (
                    convergent.broadcast(convergent.read(operand))[row] for operand in compared
                )
                why = ": it compares {} with {}".format(*map(_as_signed, sides))
            convergent.cta.report_at(
                convergent,
                ViolationKind.ASSERTION,
                f"thread {convergent.threads[row]} asserts that {message}, which is false{why}",
            )
            raise Stop

    return step


def _as_signed(number: Any) -> int:
    """Return an integer with its sign; an index has none."""
    return int(number) - (1 << 64 if int(number) >> 63 else 0)
