"""How often loops load: the pipeline indices of their loads.

Where a loop in loops counts from zero, those around it carry the index of its first iteration, and it
carries none itself.
"""

from __future__ import annotations

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.build import as_index
from ...dialect.divisibility import constant_of
from ...ir import emit
from ..insert_sync.insertion_points import loops_around
from .rewriting import counts_from_zero, loops_of, with_carried, yield_more


def carry_count(function: Op, position: int) -> int | None:
    """Let loops carry how often the body of a loop was executed before: those around it, and itself if
    its variable does not count its iterations.

    The loops are built anew, so they are named by their positions in the function.

    Returns:
        The number of the argument of the innermost one; None if no loop carries it.
    """
    loops = loops_of(function)
    loop = loops[position]
    is_counted = counts_from_zero(loop)
    carriers = [loops.index(x) for x in (*loops_around(loop), *([] if is_counted else [loop]))]
    if not carriers:
        return None
    if is_counted:
        _end_at_trips(loop)
    with ir.InsertionPoint(loops[carriers[0]]), loop.location:
        count = as_index(0)
    for n in carriers:
        (*_, count) = with_carried(loops_of(function)[n], [count]).regions[0].blocks[0].arguments
    for outer, inner in zip(carriers, (*carriers[1:], None), strict=True):
        loops = loops_of(function)
        *_, terminator = loops[outer].regions[0].blocks[0].operations
        with ir.InsertionPoint(terminator), terminator.location:
            if inner is not None:
                (*_, following) = loops[inner].results
            else:
                more = loops[position].operands[1] if is_counted else 1
                following = emit.binary("addi", count, more)
            yield_more(terminator.operation, [following])
    return count.arg_number


def _end_at_trips(loop: Op) -> None:
    """Let a loop that counts from zero end at its trip count: at 0 if its end is negative."""
    constant = constant_of(loop.operands[1])
    with ir.InsertionPoint(loop), loop.location:
        if constant is None:
            loop.operands[1] = emit.binary("maxsi", loop.operands[1], 0)
        elif constant < 0:
            loop.operands[1] = as_index(0)


class LoopCount:
    """How often a loop's body was executed, as `carry_count` has made it.

    Args:
        loop: the loop.
        argument: what `carry_count` returned.
    """

    def __init__(self, loop: Op, argument: int | None) -> None:
        self._loop, self._argument = loop, argument

    def index(self) -> Value:
        """Emit, at the begin of the loop's body, how often it was executed before."""
        body = self._loop.regions[0].blocks[0]
        if self._argument is None:
            return body.arguments[0]
        if not counts_from_zero(self._loop):
            return body.arguments[self._argument]
        with ir.InsertionPoint.at_block_begin(body), self._loop.location:
            return emit.binary("addi", self._before, body.arguments[0])

    def before_and_behind(self) -> tuple[Value, Value]:
        """Emit, behind the loop, how often its body was executed before it and after it."""
        if counts_from_zero(self._loop):
            return self._before, emit.binary("addi", self._before, self._loop.operands[1])
        assert self._argument is not None, "it is carried"
        return self._loop.operands[2 + self._argument], self._loop.results[self._argument - 1]

    @property
    def _before(self) -> Value:
        """What the loop around carries."""
        assert self._argument is not None, "it is carried"
        return self._loop.block.arguments[self._argument]
