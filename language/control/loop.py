"""`for i in sl.range(n)`: a loop of the running kernel, which carries the variables that change."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...bindings.mlir import ir
from ...dialect.build import i64
from ...ir.loops import COPIES, OVERLAP, SPECIALIZE, STAGES, WAYS_OF_COPIES
from ..errors import TraceError
from ..locations import author_frame
from ..trace import KernelTrace, current, op_builder, statement
from ..values.index import Index, as_index
from .bytecode import body_of, is_iterated_by_for
from .loop_body import LoopBody
from .variables import snapshot


def range_(
    start: Index | int,
    stop: Index | int | None = None,
    step: Index | int = 1,
    *,
    stages: int | None = None,
    copies: str | None = None,
    specialize: bool = False,
    overlap: int | None = None,
) -> Iterator[Index]:
    """Iterate in the running kernel: `for k in sl.range(n):`, as with Python's `range`.

    The body is traced once. A variable that it changes is carried: it has its new value in the next
    iteration and after the loop. So has an attribute, an element of a list, a global. After a `break` or
    a `return`, the iterations that are left do nothing. Python's own `range` of numbers repeats the body
    in the kernel's code, and so does `sl.range` of numbers in a comprehension, in `zip` or `enumerate`.

    Args:
        start, stop: the first index, and the one after the last; with one argument, `stop`.
        step: a positive number, or an index.
        stages: how many stages the tiles get that the body copies from arrays: later iterations load
            while this one multiplies. 0 for as many as fit in shared memory, up to four.
        copies: how, with `stages`: "cp-async" by all threads, which is the default, "tma" by one of them,
            or "auto": by TMA if it can.
        specialize: whether a producer loads them by TMA, and warpgroups of consumers, one for each 64
            rows up to two, do the rest of the kernel, which is written for one warpgroup.
        overlap: how many products of an iteration, the last ones, run while the next iteration begins:
            1 in attention, where the products of the values run beside the next exponentials. In loops
            whose tiles other threads fill, as with `specialize`, where None chooses it.

    Raises:
        TraceError: outside of a `for` statement, for another step, for stages in a kernel with
            `sync="manual"`, or for a variable that changes its type.

    Example:
        >>> total = zeros
        >>> for k in sl.range(4):
        ...     total = total + 1.0
        >>> print(total.type_text)
        a fragment 64x64 of f32
    """
    first, last = (0, start) if stop is None else (start, stop)
    bounds = _bounds(first, last, step)
    numbers = None
    if isinstance(first, int) and isinstance(last, int) and isinstance(step, int):
        numbers = range(first, last, step)
    if specialize and stages is None:
        stages = 0
    attributes = {} if stages is None else _attributes(stages, specialize)
    if copies is not None:
        attributes[COPIES] = ir.StringAttr.get(_copies(copies, stages))
    if overlap is not None:
        attributes |= _overlap(overlap)
    return RangeLoop(*bounds, numbers, attributes)


@op_builder
def _bounds(start: Any, stop: Any, step: Any) -> tuple[Index, Index, Index]:
    if isinstance(step, int) and step < 1:
        raise TraceError(f"sl.range has the step {step}; expected 1 or more")
    return as_index(start), as_index(stop), as_index(step)


@op_builder
def _attributes(stages: Any, specialize: bool) -> dict[str, Any]:
    """Return the attributes of a loop that gets stages."""
    if not isinstance(stages, int) or stages < 0:
        raise TraceError(
            f"sl.range has stages={stages}; expected a number of stages, 0 for all that fit"
        )
    _check_sync(f"stages={stages}", ", or write the stages by sl.copy_async")
    return {STAGES: i64(stages)} | ({SPECIALIZE: ir.UnitAttr.get()} if specialize else {})


@op_builder
def _copies(way: Any, stages: int | None) -> str:
    if way not in WAYS_OF_COPIES:
        raise TraceError(f'sl.range has copies={way!r}; expected "cp-async", "tma" or "auto"')
    if stages is None:
        raise TraceError(
            f"sl.range has copies={way!r} without stages; give the loop stages, 0 for all"
        )
    return way


@op_builder
def _overlap(count: Any) -> dict[str, Any]:
    """Return the attribute of a loop whose iterations overlap."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise TraceError(
            f"sl.range has overlap={count!r}; expected a number of products, 0 for none"
        )
    _check_sync(f"overlap={count}")
    return {OVERLAP: i64(count)}


def _check_sync(asked: str, otherwise: str = "") -> None:
    """Check that the kernel's synchronization is inserted."""
    if not current().options.inserts_sync:
        raise TraceError(
            f'sl.range has {asked} in a kernel with sync="manual", whose waits are its own; '
            f"leave sync out{otherwise}"
        )


class RangeLoop:
    """The iterator of a `for` statement: `__next__` begins the body once, and then ends it.

    Where something else iterates, a comprehension or `zip`, it is Python's range, if bounds are numbers.

    The slots that a body changes, attributes for example, are known only after it is traced. Such a body
    is traced again, with these slots as carried variables.
    """

    def __init__(
        self,
        start: Index,
        stop: Index,
        step: Index,
        numbers: range | None,
        attributes: dict[str, Any],
    ) -> None:
        self.bounds = (start, stop, step)
        self.attributes = attributes
        self.numbers = numbers
        self.trace: KernelTrace = current()
        self.body: LoopBody | None = None

    @statement
    def __iter__(self) -> Iterator[Any]:
        if self.body is not None:
            raise TraceError("this sl.range was iterated before; write sl.range(...) in each for")
        if is_iterated_by_for(author_frame()):
            return self
        if self.numbers is None:
            raise TraceError(
                "sl.range is not what a for statement iterates over, and its bounds are known at run "
                "time only; write for k in sl.range(n):, and count by a variable that the loop changes"
            )
        return iter(self.numbers)

    def __next__(self) -> Index:
        frame = author_frame()
        if self._begin(frame) if self.body is None else self._retrace(frame, self.body):
            return self._index()
        raise StopIteration

    @statement
    def _begin(self, frame: FrameType) -> bool:
        names = body_of(frame)
        if names is None:
            raise TraceError("sl.range is not in a for statement; write for k in sl.range(n):")
        self.body = LoopBody(self.trace, "scf.for", names, frame, snapshot(frame))
        self.body.begin(frame)
        return True

    @statement
    def _retrace(self, frame: FrameType, body: LoopBody) -> bool:
        """End the body, or begin it again; return whether it begins again."""
        again = body.wider_body(frame)
        if again is None:
            body.end(frame, [bound.value for bound in self.bounds], self.attributes)
            return False
        self.body = again
        again.begin(frame)
        return True

    def _index(self) -> Index:
        """Return the loop's variable."""
        body = self.body
        assert body is not None
        return Index(body.block.arguments[0], body.scope, unsigned=self.bounds[0].unsigned)
