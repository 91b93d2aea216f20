"""scf: threads with different conditions split, and reconverge at the end of the op."""

from typing import Any

from ..cta import ConvergentThreads, RegionFrame
from ..kernel import DecodedRegion, Op
from ..registry import controls
from ..types import as_signed


def _nothing(convergent: ConvergentThreads) -> None:
    """The reconvergence point is after the op, where the threads are already."""


@controls("scf.yield")
def _yield(op: Op) -> Any:
    def step(convergent: ConvergentThreads, *values: Any) -> None:
        leave = convergent.frames[-1].leave
        assert leave is not None
        leave(convergent, values)

    return step


@controls("scf.if")
def _if(op: Op) -> Any:
    results = op.result_numbers
    waits = any(region.waits for region in op.regions)

    def leave(convergent: ConvergentThreads, values: tuple[Any, ...]) -> None:
        convergent.frames.pop()
        convergent.write_all(results, values)

    def enter(region: DecodedRegion | None) -> Any:
        return (
            (lambda convergent: convergent.frames.append(RegionFrame(region.entry, leave=leave)))
            if region
            else _nothing
        )

    then, otherwise = (enter(region) for region in (*op.regions, None)[:2])

    def step(convergent: ConvergentThreads, condition: Any) -> None:
        chosen = convergent.check_value(condition)
        convergent.branch(chosen, then, otherwise, waits, 0, _nothing)

    return step


@controls("scf.for")
def _for(op: Op) -> Any:
    body, results = op.regions[0], op.result_numbers
    counter, *carried = body.entry.arguments
    limit, stride = op.new_value(), op.new_value()
    unsigned = op.has("unsignedCmp")

    def branch(
        convergent: ConvergentThreads, side_frames: int, repeat: Any, exit_loop: Any
    ) -> None:
        index, bound = convergent.read(counter), convergent.read(limit)
        inside = index < bound if unsigned else as_signed(index) < as_signed(bound)
        convergent.branch(inside, repeat, exit_loop, body.waits, side_frames, _nothing)

    def results_from(convergent: ConvergentThreads) -> None:
        convergent.write_all(results, [convergent.read(number) for number in carried])

    def enter(convergent: ConvergentThreads) -> None:
        convergent.frames.append(RegionFrame(body.entry, leave=leave))

    def repeat(convergent: ConvergentThreads) -> None:
        convergent.frames[-1].index = 0

    def exit_loop(convergent: ConvergentThreads) -> None:
        convergent.frames.pop()
        results_from(convergent)

    def leave(convergent: ConvergentThreads, values: tuple[Any, ...]) -> None:
        convergent.write(counter, convergent.read(counter) + convergent.read(stride))
        convergent.write_all(carried, values)
        branch(convergent, 1, repeat, exit_loop)

    def step(convergent: ConvergentThreads, lower: Any, upper: Any, by: Any, *initial: Any) -> None:
        for number, value in ((counter, lower), (limit, upper), (stride, by)):
            convergent.write(number, convergent.check_value(value))
        convergent.write_all(carried, initial)
        branch(convergent, 0, enter, results_from)

    return step


@controls("scf.while")
def _while(op: Op) -> Any:
    before, after = op.regions
    results = op.result_numbers
    waits = before.waits or after.waits

    def enter_before(convergent: ConvergentThreads, values: tuple[Any, ...]) -> None:
        convergent.write_all(before.entry.arguments, values)
        convergent.frames.append(RegionFrame(before.entry, leave=decide))

    def repeat(convergent: ConvergentThreads, values: tuple[Any, ...]) -> None:
        convergent.frames.pop()
        enter_before(convergent, values)

    def decide(convergent: ConvergentThreads, values: tuple[Any, ...]) -> None:
        condition, *forwarded = values
        chosen = convergent.check_value(condition)
        # Both sides read these values: the body, and the results.
        convergent.write_all(after.entry.arguments, forwarded)
        convergent.branch(chosen, enter_after, exit_loop, waits, 1, _nothing)

    def enter_after(convergent: ConvergentThreads) -> None:
        convergent.frames[-1] = RegionFrame(after.entry, leave=repeat)

    def exit_loop(convergent: ConvergentThreads) -> None:
        convergent.frames.pop()
        convergent.write_all(results, [convergent.read(number) for number in after.entry.arguments])

    def step(convergent: ConvergentThreads, *initial: Any) -> None:
        enter_before(convergent, initial)

    return step


@controls("scf.condition")
def _condition_op(op: Op) -> Any:
    return _yield(op)
