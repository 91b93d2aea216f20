"""`with sl.when(condition):` and `with sl.otherwise():`, branches of the running kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, TracebackType
from typing import Any

from ...bindings.mlir import ir, scf
from ..errors import TraceError
from ..places import author_frame, position_of
from ..trace import Scope, Trace, current, statement
from ..values.base import Traced
from ..values.boolean import Bool, condition_value
from ..values.fragment import Fragment
from ..values.index import Index
from .bytecode import is_read_after
from .exits import Block
from .holders import Slot
from .state import State
from .variables import (
    assign,
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


class Region:
    """A region that is traced into a block of its own, and the variables before and after it.

    Attributes:
        scope: of its values.
        before, after: the variables of the author's function, and other places that change.
        values_before, values_after: the same, with copies of lists, whose elements may change.
        state: what Python keeps elsewhere, before it.
    """

    def __init__(self, trace: Trace, what: str, syntax: str, frame: FrameType) -> None:
        self.trace = trace
        self.location = trace.here()
        self.scope = Scope(f"{what} in line {position_of(frame).line}")
        instead = "put what other threads do into sl.otherwise()"
        self.exit = Block(frame, self.scope.what, syntax, instead)
        self.before = snapshot(frame)
        self.values_before = _copied(self.before)
        self.values_after: dict[str | Slot, Any] = {}
        self.after: dict[str | Slot, Any] = {}
        self.state = State(trace.locations.kernel, frame)
        with self.location:
            self.block, self.holder = trace.new_block()

    def enter(self) -> None:
        """Begin the region."""
        self.trace.enter(self.scope, self.block)

    def leave(self, frame: FrameType) -> None:
        """End the region.

        Raises:
            TraceError: if a loop in it has not ended, a statement leaves it early, or it changes what
                cannot be carried.
        """
        self.exit.check_end(frame)
        self.after = snapshot(frame)
        self.trace.leave(self.scope)
        self.scope.open = False
        self.state.check_shapes(self.scope.what)
        for slot, (before, after) in self.state.changed(self.after).items():
            self.before[slot], self.after[slot] = before, after
        self.values_before.update(
            (name, value) for name, value in self.before.items() if isinstance(name, Slot)
        )
        self.values_after = _copied(self.after)

    def changed(self) -> list[str | Slot]:
        """The variables and other places that the region changed, of those that there were before."""
        return [
            name for name, before in self.before.items() if changes(before, self.after.get(name))
        ]

    def include(self, other: Region) -> None:
        """Include the places that another region of the same branch changed."""
        for name, before in other.before.items():
            if isinstance(name, Slot):
                for values in (self.before, self.after, self.values_before, self.values_after):
                    values.setdefault(name, before)

    def yielded(self, names: list[str | Slot]) -> list[Any]:
        """End the block by a yield of variables, and return their values."""
        self.scope.open = True
        return yielded(self.trace, self.scope, self.block, self.location, self.values_after, names)


def yielded(
    trace: Trace,
    scope: Scope,
    block: Any,
    location: Any,
    held: Mapping[str | Slot, Any],
    names: list[str | Slot],
) -> list[Any]:
    """End a block by a yield of variables, close its scope, and return the values."""
    trace.enter(scope, block)
    with location:
        values = values_of(held[name] for name in names)
        scf.yield_(values)
    trace.leave(scope)
    scope.open = False
    return values


def _copied(values: Mapping[str | Slot, Any]) -> dict[str | Slot, Any]:
    """Return what variables hold, with copies of lists and tuples."""
    return {name: rebuilt(value, iter(parts(value))) for name, value in values.items()}


def values_of(held: Iterable[Any]) -> list[Any]:
    """Return the MLIR values of variables, in lists and tuples, too."""
    return [promoted(part).value for each in held for part in parts(each)]


class When:
    """The statement `with sl.when(condition):`."""

    def __init__(self, condition: Bool | bool) -> None:
        self.condition = condition
        self.region: Region | None = None

    @statement
    def __enter__(self) -> None:
        frame, trace = author_frame(), current()
        with trace.here():
            self.test = condition_value(self.condition)
        self.region = Region(trace, "the branch", "with sl.when(...)", frame)
        self.region.enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._end(author_frame())
        elif self.region is not None:
            self.region.trace.fail(error)

    @statement
    def _end(self, frame: FrameType) -> None:
        region = self.region
        assert region is not None
        region.leave(frame)
        branch = _Branch(self.test, region)
        branch.build(frame)
        region.trace.last_branch = branch


class Otherwise:
    """The statement `with sl.otherwise():`."""

    def __init__(self) -> None:
        self.branch: _Branch | None = None

    @statement
    def __enter__(self) -> None:
        frame, trace = author_frame(), current()
        branch = trace.last_branch
        if branch is None or not branch.is_last():
            raise TraceError("sl.otherwise() does not follow the block of an sl.when")
        self.branch = branch
        branch.undo(frame)
        branch.other = Region(trace, "the other branch", "with sl.otherwise()", frame)
        branch.other.enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self._end(author_frame())
        elif self.branch is not None:
            self.branch.region.trace.fail(error)

    @statement
    def _end(self, frame: FrameType) -> None:
        branch = self.branch
        assert branch is not None and branch.other is not None
        branch.other.leave(frame)
        branch.build(frame)
        branch.region.trace.last_branch = None


class _Branch:
    """An `scf.if` in the making.

    Attributes:
        test: the MLIR condition.
        region: what `when` holds.
        other: what `otherwise` holds, if there is one.
    """

    def __init__(self, test: Any, region: Region) -> None:
        self.test = test
        self.region = region
        self.other: Region | None = None
        self.made: Any = None

    def is_last(self) -> bool:
        """Whether nothing was built after it."""
        block = ir.InsertionPoint.current.block
        *_, last = block.operations
        return last.operation == self.made

    def undo(self, frame: FrameType) -> None:
        """Take the branch apart, for another region; the variables are as before it."""
        restored = {name: self.region.before[name] for name in self.region.changed()}
        self.region.block.append_to(self.region.holder.regions[0])
        *_, yield_ = self.region.block.operations
        yield_.operation.erase()
        self.made.erase()
        assign(frame, restored)

    def build(self, frame: FrameType) -> None:
        """Build the `scf.if`, and give the variables that changed its results."""
        regions = [self.region, *([self.other] if self.other else [])]
        for region in regions:
            region.scope.open = True
        for region in regions:
            for other in regions:
                region.include(other)
        kept, lost_names = self._kept(regions, frame)
        names = list(kept)
        for region in regions:
            region.scope.open = False
        first = self.region.yielded(names)
        second = self._other_block(names)
        with self.region.location:
            made = ir.Operation.create(
                "scf.if", results=[v.type for v in first], operands=[self.test], regions=2
            ).operation
        self._check_states(kept, first, second)
        self.region.block.append_to(made.regions[0])
        if second is not None:
            self.holder.append_to(made.regions[1])
        self.made = made
        scope = self.region.trace.scope
        results = iter(made.results)
        joined = {name: _joined(*kept[name], results, scope) for name in names}
        assign(frame, joined | dict.fromkeys(lost_names, lost(self.region.scope)))

    def _kept(
        self, regions: list[Region], frame: FrameType
    ) -> tuple[dict[str | Slot, tuple[Any, Any]], list[str]]:
        """Return the variables that get results, with what they hold at the ends of the branches.

        They are those that changed, and those that both regions define. The second result are variables
        that cannot have a result, and are not read before they are assigned.

        Raises:
            TraceError: for a variable that is read, or another place, that cannot have a result.
        """
        kept: dict[str | Slot, tuple[Any, Any]] = {}
        unread: list[str] = []
        known = [
            name for region in regions for name in region.changed() if name in self.region.before
        ]
        for name in dict.fromkeys([*known, *self._new()]):
            try:
                kept[name] = _like(name, regions)
            except TraceError:
                if isinstance(name, Slot) or is_read_after(frame, name):
                    raise
                unread.append(name)
        return kept, unread

    def _new(self) -> Iterator[str | Slot]:
        """The names that both regions define, with values that differ."""
        if self.other is None:
            return
        one, two = self.region.values_after, self.other.values_after
        for name in one.keys() & two.keys() - self.region.before.keys():
            # The other branch begins with what this one has left in the name.
            is_own = self.other.after[name] is not self.other.before.get(name)
            # The use of a traced value of another kind is an error where it is used.
            is_traced = any(isinstance(part, Traced) for part in parts([one[name], two[name]]))
            is_joined = not is_traced or _can_join(name, one[name], two[name])
            if is_own and is_joined and changes(one[name], two[name]):
                yield name

    def _other_block(self, names: list[str | Slot]) -> list[Any] | None:
        """Return what the other region yields; None if there is no other region."""
        if self.other is not None:
            self.holder = self.other.block
            return self.other.yielded(names)
        if not names:
            return None
        with self.region.location:
            self.holder, _ = self.region.trace.new_block()
        region = self.region
        scope = Scope("the branch that is not taken")
        return yielded(
            region.trace, scope, self.holder, region.location, region.values_before, names
        )

    def _check_states(self, kept: Any, first: list[Any], second: list[Any] | None) -> None:
        names = [name for name, (before, _) in kept.items() for _ in parts(before)]
        for name, one, two in zip(names, first, second or first, strict=True):
            if one.type != two.type:
                raise TraceError(
                    f"{name} is in flight after one branch and readable after the other; put sl.wait "
                    "in both, or after them"
                )


def _can_join(name: str | Slot, one: Any, two: Any) -> bool:
    """Whether a name that is new in both branches has a value after them."""
    if not (is_carried(one) and is_carried(two)):
        return False
    try:
        same_kind(name, one, two, "")
    except TraceError:
        return False
    return True


def _like(name: str | Slot, regions: list[Region]) -> tuple[Any, Any]:
    """Return what a variable holds at the ends of the branches, which must be of one kind.

    Raises:
        TraceError: if they are not.
    """
    region = regions[0]
    before = regions[1].values_after if len(regions) == 2 else region.values_before
    before = before.get(name)
    before = rebuilt(before, iter([promoted(part) for part in parts(before)]))
    if not is_carried(before):
        raise TraceError(
            f"{name} is {text_of(before)} before {region.scope.what}, and changes in it; begin with a "
            "value of the kernel, for example sl.zeros"
        )
    after = same_kind(name, before, region.values_after.get(name), region.scope.what)
    return before, usable(name, after)


def _joined(before: Any, after: Any, results: Iterator[Any], scope: Scope) -> Any:
    """Return a variable with the results of an `scf.if`."""

    def wrapped(one: Any, two: Any) -> Any:
        result = next(results)
        if isinstance(one, Index):
            return Index(result, scope, unsigned=one.unsigned and two.unsigned)
        return (
            Fragment(result, scope) if isinstance(one, Fragment) else one.rewrapped(result, scope)
        )

    both = zip(parts(before), parts(after), strict=True)
    return rebuilt(after, iter([wrapped(one, two) for one, two in both]))


def when(condition: Bool | bool) -> When:
    """Run a block if a condition holds: `with sl.when(k < n):`.

    A variable that the block changes has its new value after it, if the condition holds. The condition
    is that of the running kernel; a Python `if` chooses while the kernel is traced.

    Args:
        condition: a comparison of indices or numbers.

    Example:
        >>> with sl.when(sl.block_id(0) < 2):
        ...     sl.store(acc, C[0:64, 0:64])
    """
    return When(condition)


def otherwise() -> Otherwise:
    """Run a block if the condition of the `sl.when` before it does not hold: `with sl.otherwise():`.

    Example:
        >>> scale = sl.block_id(0)
        >>> with sl.when(sl.block_id(0) < 2):
        ...     scale = scale + 1
        >>> with sl.otherwise():
        ...     scale = scale + 2
    """
    return Otherwise()
