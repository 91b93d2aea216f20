"""The state of a trace: scopes, hoisted constants, the author's position."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from ..bindings.diagnostics import Invalid
from ..bindings.mlir import arith, ir
from ..layout import LayoutError
from .dtypes import ALL
from .errors import Position, TraceError
from .locations import Locations, author_frame, position_of
from .options import KernelOptions

P = ParamSpec("P")
R = TypeVar("R")


class KernelScope:
    """A region of the kernel that is being traced: its body, a loop, a branch, a partition.

    Attributes:
        label: for messages, for example "the loop in line 12".
        position: where it begins, if Python can leave it where no call of the language sees it.
        open: whether its values can still be used.
    """

    def __init__(self, label: str, position: Position | None = None) -> None:
        self.label = label
        self.position = position
        self.open = True

    def check_end(self, outer: str) -> None:
        """Check that the scope can end where it is left.

        Args:
            outer: what ends while it is open.

        Raises:
            TraceError: if it is a loop: a jump has left it.
        """
        if self.position is not None:
            raise TraceError(
                f"{self.label} was left before its end, by a jump out of the block of a with statement; "
                "set a variable there, and break behind the block",
                self.position,
            )
        raise TraceError(f"{self.label} does not end in {outer}")


class KernelTrace:
    """The trace of one kernel.

    Attributes:
        name: the kernel's.
        options: of the decorator.
        scopes: the open scopes, the innermost last.
        pure: ops without effects, which are erased at the end if nothing uses them.
        extents: the indices of named extents, by name.
        grid, multiples: the declarations of `grid` and `multiple_of`.
        moves_registers: whether a partition has a number of registers.
        prints: whether it has an `sl.print` without a fragment.
        broken: the error of a block that was left by an exception.
        last_branch: the latest `when`, which an `otherwise` may follow.
        unentered: the errors of the statements that no `with` has entered, by the statement.
        changed_by_partitions: variables that partitions changed: the value before and after, and the
            scope.
    """

    def __init__(self, name: str, locations: Locations, options: KernelOptions) -> None:
        self.name = name
        self.options = options
        self.locations = locations
        self.scopes = [KernelScope(f"the kernel {name}")]
        self.pure: list[Any] = []
        self.grid: list[list[Any]] | None = None
        self.multiples: dict[str, int] = {}
        self.moves_registers = False
        self.prints = False
        self.broken: TraceError | None = None
        self.last_branch: Any = None
        self.unentered: dict[Any, TraceError] = {}
        self.changed_by_partitions: dict[Any, Any] = {}
        self.extents: dict[str, Any] = {}
        self._constants: dict[Any, Any] = {}
        self._remembered: list[tuple[dict[str, Any], str]] = []
        self._anchor: Any = None
        self._points: list[Any] = []
        self._holders: list[Any] = []
        self._discarded: list[Any] = []

    def begin(self) -> None:
        """Mark the insertion point before which hoisted ops are placed."""
        self._anchor = arith.constant(ir.IndexType.get(), 0).owner
        self.pure.append(self._anchor)

    def hoisting_point(self) -> Any:
        """Return the insertion point of ops that the whole kernel can use."""
        return ir.InsertionPoint(self._anchor)

    def constant(self, type_: Any, number: float) -> Any:
        """Return a constant, of which there is one for each type and number."""
        key = (str(type_), repr(number))
        constant = self._constants.get(key)
        if constant is None:
            with self.hoisting_point():
                constant = self._constants[key] = arith.constant(type_, number)
            self.pure.append(constant.owner)
        return constant

    def index(self, number: int) -> Any:
        """Return a constant of type index."""
        return self.constant(ir.IndexType.get(), number)

    @property
    def scope(self) -> KernelScope:
        """The innermost scope."""
        return self.scopes[-1]

    def enter(self, scope: KernelScope, block: Any) -> None:
        """Begin a scope: ops are created at the end of a block."""
        point = ir.InsertionPoint(block)
        point.__enter__()
        self._points.append(point)
        self.scopes.append(scope)

    def leave(self, scope: KernelScope) -> None:
        """End a scope; its values can be used until it is closed.

        Raises:
            TraceError: if another scope in it has not ended.
        """
        if self.scope is not scope:
            self.scope.check_end(scope.label)
        self._points.pop().__exit__(None, None, None)
        self.scopes.pop()

    def new_block(self, types: Sequence[Any] = ()) -> tuple[Any, Any]:
        """Return a block for a region whose op is not built yet, and the op that holds it until then.

        Args:
            types: of the block's arguments.
        """
        holder = ir.Operation.create("builtin.module", regions=1, ip=False)
        self._holders.append(holder)
        return ir.Block.create_at_start(holder.regions[0], types), holder

    def remember(self, computed: dict[str, Any], form: str, value: Any) -> None:
        """Keep the value of an expression, until it is discarded."""
        computed[form] = value
        self._remembered.append((computed, form))

    def mark(self) -> tuple[Any, ...]:
        """Return a mark with which `discard` undoes what is traced after it."""
        counts = len(self.pure), len(self._remembered)
        return *counts, self.grid, dict(self.multiples), dict(self.changed_by_partitions)

    def discard(self, mark: tuple[Any, ...], holder: Any) -> None:
        """Undo what was traced since a mark, into a block whose op is not built."""
        count, remembered, self.grid, self.multiples, self.changed_by_partitions = mark
        for computed, form in self._remembered[remembered:]:
            computed.pop(form, None)
        del self._remembered[remembered:]
        entry = ir.InsertionPoint(self._anchor).block
        # Constants of the whole kernel stay.
        self.pure[count:] = [op for op in self.pure[count:] if ir.InsertionPoint(op).block == entry]
        self.last_branch = None
        self._discarded.append(holder)

    def unwind(self) -> None:
        """Leave all scopes, after an error, and erase the blocks that no op of the kernel holds."""
        while self._points:
            self._points.pop().__exit__(None, None, None)
        # They use values of the kernel, which must not be freed before them: uses are linked lists.
        while self._holders:
            self._holders.pop().erase()

    def fail(self, error: BaseException) -> None:
        """Note that an exception has left a block before its end: the trace cannot continue."""
        if self.broken is None:
            reason = error.message if isinstance(error, TraceError) else f"{type(error).__name__}"
            self.broken = TraceError(
                f"{self.scope.label} was left by an exception ({reason}), which a kernel cannot handle",
                here(),
            )

    def expect_with(self, statement: Any, syntax: str) -> None:
        """Note a statement that a `with` must enter."""
        message = f"sl.{syntax} does nothing by itself; write with sl.{syntax}:"
        self.unentered[statement] = TraceError(message, here())

    def here(self) -> Any:
        """Return the location of the author's code."""
        return self.locations.of_frame(author_frame())

    def close(self) -> None:
        """End all scopes: no value of the trace can be used any more."""
        for scope in self.scopes:
            scope.open = False

    def erase_unused(self) -> None:
        """Erase the blocks of discarded bodies, and the ops without effects that nothing uses."""
        for holder in self._discarded:
            self._holders.remove(holder)
            holder.erase()
        self._discarded.clear()
        for op in reversed(self.pure):
            if not any(True for result in op.results for _ in result.uses):
                op.operation.erase()
        self.pure.clear()


_CURRENT: ContextVar[KernelTrace | None] = ContextVar("trace", default=None)

#: Errors of builders that are the author's: a violated rule, an argument of another type.
_MISTAKES = (Invalid, LayoutError, TypeError, ValueError)


def current() -> KernelTrace:
    """Return the trace that runs.

    Raises:
        TraceError: outside of a kernel, or after a block was left by an exception.
    """
    trace = _CURRENT.get()
    if trace is None:
        raise TraceError("no kernel is being traced; call this in a function under @sl.kernel")
    if trace.broken is not None:
        raise trace.broken
    return trace


def has_trace() -> bool:
    """Return whether a kernel is being traced."""
    return _CURRENT.get() is not None


@contextmanager
def tracing(trace: KernelTrace) -> Iterator[None]:
    """Make a trace the current one."""
    token = _CURRENT.set(trace)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def op_builder(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function that creates ops: they get the location of the author's line, and so do its errors.

    An error of a builder becomes a `TraceError`.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with current().locations.of_frame(author_frame()):
            return function(*args, **kwargs)

    return statement(call)


def statement(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function that enters or leaves a region: its errors get the author's line.

    It sets no location: the bindings have locations and insertion points on one stack.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        frame = author_frame()
        try:
            return function(*args, **kwargs)
        except TraceError as error:
            if error.position is None:
                error.position = position_of(frame)
            raise
        except _MISTAKES as error:
            raise TraceError(_sentence(error, function), position_of(frame)) from None

    return call


def with_author_position(error: TraceError) -> TraceError:
    """Return an error with the author's position, if it has none."""
    if error.position is None:
        error.position = position_of(author_frame())
    return error


def here() -> Position:
    """Return the author's position."""
    return position_of(author_frame())


#: Words of the dialect, and those of the language for them; they are regular expressions.
_WORDS = {
    r"^'smem\.(\w+)' op |^smem\.(\w+): (?=\w+s )": r"sl.\1\2 ",
    r"^(?:smem\.)?(\w+)(:|\(\)) ": r"sl.\1\2 ",
    r"^sl\.fill\b": "sl.full",
    r"^sl\.create_pipeline\b": "sl.pipeline",
    r"^sl\.(columns|subtile|stage)\b": "the slice",
    "set the unit attribute truncate": "write truncate=True",
    r"tensor<([\dx]+)x(\w+)>": r"\1 of \2",
    r" loads (\w+) from (?:a tile of )?(\w+); expected ": r" loads \2 to an accumulator of \1; expected ",
    **{
        rf"(?<!\w){re.escape(dtype.mlir)}(?!\w)": dtype.name
        for dtype in reversed(ALL)
        if dtype.mlir != dtype.name
    },
}


def in_own_words(text: str) -> str:
    """Return a message of the dialect in the words of the language."""
    for words, ours in _WORDS.items():
        text = re.sub(words, ours, text)
    return text


def _sentence(error: Exception, function: Callable[..., Any]) -> str:
    """Return the message of an error of a builder, which a function of the language has called."""
    text, name = in_own_words(str(error)), function.__qualname__
    is_public = name.isidentifier() and not name.startswith("_") and name != "apply"
    if text.startswith(("sl.", "the slice")) or not is_public:
        return text
    return f"sl.{name.strip('_')}{'' if isinstance(error, Invalid) else ':'} {text}"
