"""`while` in rewritten functions: Python's loop, or an `scf.while` once its condition is the kernel's."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any, Protocol

from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ..errors import TraceError
from ..locations import author_frame, position_of
from ..trace import KernelScope, current, has_trace, statement
from ..values.boolean import Bool, condition_value
from .bytecode import BodyNames, body_of
from .loop_body import LoopBody
from .state import ReachableState
from .variables import assign, lost_value, snapshot


class LoopBranch(Protocol):
    """The iterator of a `while` statement that is a `for` statement around an `if`."""

    def __iter__(self) -> Iterator[Any]: ...

    def __next__(self) -> LoopBranch: ...

    def goes_on(self, condition: Any) -> Any:
        """Note the condition of an iteration, and return that of its body."""
        ...


class PythonWhile:
    """A `while` statement outside of a trace."""

    def __init__(self) -> None:
        self._is_over = False

    def __iter__(self) -> PythonWhile:
        return self

    def __next__(self) -> PythonWhile:
        if self._is_over:
            raise StopIteration
        return self

    def goes_on(self, condition: Any) -> bool:
        self._is_over = not condition
        return not self._is_over


class TracedWhile:
    """A `while` statement of a function that is traced.

    Its iterations are Python's while its condition is. At the first condition of the kernel all that
    was traced of the loop is undone, and it begins again as a loop of the kernel. In that, an iteration
    is the condition and an `scf.if` with the body.
    """

    def __init__(self) -> None:
        self._trace = current()
        self._start: _Start | None = None
        self._is_over = False
        self._body: LoopBody | None = None
        self._condition: Any = None

    def __iter__(self) -> TracedWhile:
        return self

    def __next__(self) -> TracedWhile:
        frame = author_frame()
        if self._body is not None:
            self._is_over = not self._retrace(frame, self._body)
        elif self._start is None:
            self._begin(frame)
        if self._is_over:
            raise StopIteration
        return self

    def _begin(self, frame: FrameType) -> None:
        self._start = _Start(frame)

    @statement
    def goes_on(self, condition: Any) -> Any:
        if self._body is not None:
            self._condition = condition
            return condition
        if not isinstance(condition, Bool):
            self._is_over = not condition
            return not self._is_over
        assert self._start is not None
        frame = author_frame()
        self._start.restore(frame)
        names = self._start.names
        self._body = LoopBody(self._trace, "scf.while", names, frame, self._start.variables)
        # The next iteration begins the loop.
        return False

    @statement
    def _retrace(self, frame: FrameType, body: LoopBody) -> bool:
        """Begin the body, or end it; return whether it begins."""
        if self._condition is not None:
            again = body.wider_body(frame)
            if again is None:
                if self._condition is True:
                    raise TraceError(
                        f"{body.scope.label} does not end: its condition is always true",
                        body.position,
                    )
                with body.location:
                    condition = condition_value(self._condition)
                body.end(frame, [condition])
                return False
            self._body = body = again
        body.begin(frame)
        return True


class _Start:
    """What a `while` statement began with.

    Attributes:
        names: the variables of its body.
        variables: their values.
    """

    def __init__(self, frame: FrameType) -> None:
        self._trace = current()
        names = body_of(frame)
        assert names is not None
        self.names: BodyNames = names
        self.variables = snapshot(frame)
        self._state = ReachableState(self._trace.locations.kernel, frame)
        self._mark = self._trace.mark()
        operations = ir.InsertionPoint.current.block.operations
        count = len(operations)
        self._last_op = operations[count - 1].operation if count else None

    def restore(self, frame: FrameType) -> None:
        """Undo what was traced and assigned since.

        Raises:
            TraceError: if an object has got or lost values.
        """
        scope = KernelScope(f"the loop in line {position_of(frame).line}")
        scope.open = False
        after = snapshot(frame)
        self._state.check_shapes(scope.label)
        slots = self._state.changed_slots(after)
        block, holder = self._trace.new_block()
        for op in reversed(self._later_ops()):
            op.detach_from_parent()
            ir.InsertionPoint(block).insert(op)
        self._trace.discard(self._mark, holder)
        for slot, (before, _) in slots.items():
            slot.write(before)
        new = {name: lost_value(scope) for name in after if name not in self.variables}
        assign(frame, {**new, **self.variables})

    def _later_ops(self) -> list[Op]:
        """Return the ops of the block since the statement began, the last first.

        Constants of the kernel may have been added at the begin of the block. A list of all ops would be
        long where a loop of Python holds the statement.
        """
        operations = ir.InsertionPoint.current.block.operations
        later: list[Op] = []
        for position in reversed(range(len(operations))):
            op = operations[position].operation
            if self._last_op is not None and op == self._last_op:
                break
            later.append(op)
        return later


def while_loop() -> LoopBranch:
    """Return the iterator of a `while` statement."""
    return TracedWhile() if has_trace() else PythonWhile()
