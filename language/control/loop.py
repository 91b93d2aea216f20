"""`for i in sl.range(n)`: a loop of the running kernel, which carries the variables that change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from ...bindings.mlir import ir, scf
from ...dialect.ops import FillOp
from ...dialect.types import with_state
from ..errors import Position, TraceError
from ..places import author_frame, position_of
from ..trace import Scope, Trace, current, statement, traced
from ..values.fragment import Fragment
from ..values.index import Index, as_index
from .bytecode import Body, body_of, is_iterated_by_for, is_read_after
from .holders import Slot
from .state import State
from .variables import (
    assign,
    can_be_lost,
    changes,
    is_carried,
    lost,
    parts,
    promoted,
    rebuilt,
    same_kind,
    snapshot,
    text_of,
    usable,
)


def range_(
    start: Index | int, stop: Index | int | None = None, step: Index | int = 1
) -> Iterator[Index]:
    """Iterate in the running kernel: `for k in sl.range(n):`, as with Python's `range`.

    The body is traced once. A variable that it changes is carried: it has its new value in the next
    iteration and after the loop. So has an attribute, an element of a list, a global. `break` and
    `return` do not leave the loop; use `sl.when`. Python's own `range` repeats the body in the kernel's
    code, and so does `sl.range` of numbers in a comprehension, in `zip` or `enumerate`.

    Args:
        start, stop: the first index, and the one after the last; with one argument, `stop`.
        step: a positive number, or an index.

    Raises:
        TraceError: outside of a `for` statement, for another step, or for a variable that
            changes its type.

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
    return _Loop(*bounds, numbers)


@traced
def _bounds(start: Any, stop: Any, step: Any) -> tuple[Index, Index, Index]:
    if isinstance(step, int) and step < 1:
        raise TraceError(f"sl.range has the step {step}; expected 1 or more")
    return as_index(start), as_index(stop), as_index(step)


class _Loop:
    """What one `for` statement iterates over. It is asked for the body, and for the end.

    Where something else iterates, a comprehension or `zip`, it is Python's range, if bounds are numbers.

    A body that changes a place which is no variable, an attribute for example, is traced again with the
    place as something that the loop carries: it is not known before which ones a body changes.
    """

    def __init__(self, start: Index, stop: Index, step: Index, numbers: range | None) -> None:
        self.bounds = (start, stop, step)
        self.numbers = numbers
        self.trace: Trace = current()
        self.body: _Body | None = None

    @statement
    def __iter__(self) -> Iterator[Any]:
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
        if self.body is None:
            return self._begin(frame)
        if self._is_again(frame, self.body):
            return self.body.begin(frame, self.bounds[0].unsigned)
        self._end(frame, self.body)
        raise StopIteration

    def __del__(self) -> None:
        if self.body is not None and not self.body.done and self.trace.broken is None:
            self.trace.broken = TraceError(
                f"{self.body.scope.what} was left before its end; a loop of the kernel has no break "
                "and no return, use sl.when",
                self.body.place,
            )

    @statement
    def _begin(self, frame: FrameType) -> Index:
        names = body_of(frame)
        if names is None:
            raise TraceError("sl.range is not in a for statement; write for k in sl.range(n):")
        self.body = _Body(self.trace, names, frame, snapshot(frame))
        return self.body.begin(frame, self.bounds[0].unsigned)

    @statement
    def _is_again(self, frame: FrameType, body: _Body) -> bool:
        """Return whether the body must be traced again, and begin anew with what it changes."""
        places = body.places(frame)
        if not places:
            return False
        held = {**body.held, **places}
        body.discard(frame, places)
        self.body = _Body(self.trace, body.names, frame, held)
        return True

    @statement
    def _end(self, frame: FrameType, body: _Body) -> None:
        body.end(frame, self.bounds)


class _Body:
    """The body of a loop while it is traced, in a block of its own.

    Attributes:
        scope: of its values.
        place: of the `for` statement.
        done: whether the loop is built.
        held: what variables held before, and other places that the body changes.
    """

    def __init__(
        self, trace: Trace, names: Body, frame: FrameType, held: dict[str | Slot, Any]
    ) -> None:
        self.trace = trace
        self.place: Position = position_of(frame)
        self.location = trace.here()
        self.scope = Scope(f"the loop in line {self.place.line}")
        self.done = False
        self.names = names
        self.held = held
        self.state = State(trace.locations.kernel, frame)
        self.mark = trace.mark()
        with self.location:
            self.before = {
                name: _computed(value)
                for name, value in self.held.items()
                if isinstance(name, Slot)
                or (name in names.assigned and name != names.target and _varies(name, value, names))
            }
        self.inside: dict[str | Slot, Any] = {}

    def begin(self, frame: FrameType, unsigned: bool) -> Index:
        """Give each variable that may change arguments of the block; return the loop's variable."""
        carried = parts(list(self.before.values()))
        types = [ir.IndexType.get(), *(each.value.type for each in carried)]
        with self.location:
            self.block, self.holder = self.trace.new_block(types)
        self.trace.enter(self.scope, self.block)
        variable, *arguments = self.block.arguments
        new = iter([e.rewrapped(a, self.scope) for e, a in zip(carried, arguments, strict=True)])
        self.inside = {name: rebuilt(before, new) for name, before in self.before.items()}
        self.first = {name: parts(each) for name, each in self.inside.items()}
        assign(frame, self.inside)
        self.variable = Index(variable, self.scope, unsigned=unsigned)
        return self.variable

    def places(self, frame: FrameType) -> dict[Slot, Any]:
        """Return the places that the body changes and the loop does not carry yet, with their values.

        Raises:
            TraceError: if the body changes what a loop cannot carry.
        """
        self.state.check_shapes(self.scope.what)
        places: dict[Slot, Any] = {}
        for slot, (before, after) in self.state.changed(snapshot(frame)).items():
            if slot in self.before or not slot.is_read:
                continue
            if not _is_carriable(before):
                raise TraceError(self._refusal(slot, before, after))
            places[slot] = before
        return places

    def discard(self, frame: FrameType, places: Iterable[Slot]) -> None:
        """Take the body back, as if it had not been traced, with what variables and places held."""
        self.done, self.scope.open = True, False
        self.trace.leave(self.scope)
        self.trace.discard(self.mark, self.holder)
        for place in places:
            place.write(self.state.before(place))
        assign(frame, self.held)

    def end(self, frame: FrameType, bounds: tuple[Index, Index, Index]) -> None:
        """Build the loop with the variables that changed, and give them its results."""
        trace, scope, held = self.trace, self.scope, snapshot(frame)
        held.update((place, place.read()) for place in self.before if isinstance(place, Slot))
        self._check_others(held)
        changed = self._changed(held)
        with self.location:
            results = {name: [e.value for e in parts(after)] for name, after in changed.items()}
            # Before arguments are erased: what is yielded may be one of them.
            scf.yield_([value for values in results.values() for value in values])
            types = {name: [v.type for v in values] for name, values in results.items()}
            inits = self._inits(types)
            del results
        trace.leave(scope)
        with self.location:
            made = ir.Operation.create(
                "scf.for",
                results=[type_ for found in types.values() for type_ in found],
                operands=[*(each.value for each in bounds), *inits],
                regions=1,
            )
        self.block.append_to(made.operation.regions[0])
        self.done, scope.open = True, False
        after = {
            name: self.held[name]
            for name in self.before
            if name not in changed and self._is_same(name, held.get(name))
        }
        new = iter(made.operation.results)
        for name, value in changed.items():
            wrapped = iter([each.rewrapped(next(new), trace.scope) for each in parts(value)])
            after[name] = rebuilt(value, wrapped)
        assign(frame, {**self._lost(frame, held, {*changed, *after}), **after})

    def _is_same(self, name: str | Slot, after: Any) -> bool:
        """Whether a variable holds what it held at the begin of the body."""
        new, old = parts(after), self.first[name]
        same = len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
        return after is self.inside[name] and same

    def _changed(self, held: dict[str | Slot, Any]) -> dict[str | Slot, Any]:
        """Return the variables that the body changed, with what they hold at its end.

        A variable that the body assigns before it reads it may get another type; it is then of the
        body alone.
        """
        changed: dict[str | Slot, Any] = {}
        for name, before in self.before.items():
            after = held.get(name)
            if self._is_same(name, after):
                continue
            try:
                changed[name] = usable(name, same_kind(name, before, after, self.scope.what))
            except TraceError:
                if isinstance(name, Slot) or name in self.names.read_first:
                    raise
                continue
            for one, two in zip(parts(before), parts(changed[name]), strict=True):
                if isinstance(two, Index) and one.unsigned and not two.unsigned:
                    raise TraceError(
                        f"{name} is 0 or more before {self.scope.what}, and may be below after its "
                        "body; write sl.unsigned(...) around a difference that is not, or sl.signed(...) "
                        "before the loop"
                    )
        return changed

    def _inits(self, types: dict[str | Slot, list[Any]]) -> list[Any]:
        """Return the first value of each variable that changed; free the others of their arguments."""
        inits: list[Any] = []
        slots = [
            (name, part, types[name][i] if name in types else None)
            for name, before in self.before.items()
            for i, part in enumerate(parts(before))
        ]
        for place, (name, before, type_) in reversed(list(enumerate(slots, start=1))):
            argument = self.block.arguments[place]
            if type_ is not None:
                inits.insert(0, _init(name, before.value, argument, type_))
            else:
                argument.replace_all_uses_with(before.value)
                self.block.erase_argument(place)
        return inits

    def _check_others(self, held: dict[str | Slot, Any]) -> None:
        """Check that nothing that the loop does not carry depends on the iteration before.

        Raises:
            TraceError: if something does: each iteration would read its first value.
        """
        for name in sorted(self.names.read_first - set(self.before)):
            before, after = self.held.get(name), held.get(name)
            if name in self.held and changes(before, after):
                raise TraceError(self._refusal(name, before, after))

    def _refusal(self, name: str | Slot, before: Any, after: Any) -> str:
        return (
            f"{name} is {text_of(before)} before {self.scope.what}, and {text_of(after)} after its body, "
            "which is traced once; a loop carries integers, and indices, numbers, conditions and "
            "fragments of the kernel"
        )

    def _lost(
        self, frame: FrameType, held: dict[str | Slot, Any], carried: set[str | Slot]
    ) -> dict[str | Slot, Any]:
        """Return the variables that the body assigns and the loop does not carry, as unusable values.

        After a loop without an iteration, they would be what they were.

        Raises:
            TraceError: if one that is not a number or a text may be read after the loop.
        """
        missing: dict[str | Slot, Any] = {}
        for name in self.names.assigned - carried - {self.names.target}:
            before, after = self.held.get(name), held.get(name)
            if name not in self.held or not changes(before, after):
                continue
            if can_be_lost(before, after):
                missing[name] = lost(self.scope)
            elif is_read_after(frame, name):
                raise TraceError(self._refusal(name, before, after))
        return missing


def _init(name: str | Slot, init: Any, argument: Any, type_: Any) -> Any:
    """Return the first value of a carried variable, of the type that the body gives it.

    An accumulator that begins as a fill is in flight from the start if the body carries it so.
    """
    if init.type == type_:
        return init
    owner = init.owner
    is_fill = not isinstance(owner, ir.Block) and owner.name == FillOp.OPERATION_NAME
    in_flight = with_state(init.type, True)
    if type_ != in_flight or not is_fill:
        states = ("in flight", "readable") if init.type == in_flight else ("readable", "in flight")
        raise TraceError(
            f"{name} is {states[0]} before the loop, and {states[1]} after its body; put sl.wait before "
            "the loop, or at the end of its body"
        )
    argument.set_type(in_flight)
    with ir.InsertionPoint(owner), owner.location:
        return ir.Operation.create(
            FillOp.OPERATION_NAME, results=[in_flight], operands=list(owner.operands)
        ).result


def _is_carriable(value: Any) -> bool:
    """Return whether a loop can carry a value: traced ones, and integers."""
    values = parts(value)
    traced = [each for each in values if not isinstance(each, int) or isinstance(each, bool)]
    return bool(values) and all(map(is_carried, traced))


def _computed(value: Any) -> Any:
    """Return what a loop carries of a variable: an index for an integer, registers for an expression."""

    def computed(part: Any) -> Any:
        part = promoted(part)
        is_lazy = isinstance(part, Fragment) and part.is_expression
        return Fragment(part.value) if is_lazy else part

    return rebuilt(value, iter([computed(part) for part in parts(value)]))


def _varies(name: str, value: Any, body: Body) -> bool:
    """Return whether the loop may carry a variable: traced values, or an integer that it counts."""
    values = parts(value)
    integers = [each for each in values if isinstance(each, int) and not isinstance(each, bool)]
    if integers and name not in body.read_first:
        return False
    if isinstance(value, list | tuple) and len(integers) == len(values):
        return False
    return _is_carriable(value)
