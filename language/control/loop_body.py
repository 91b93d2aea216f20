"""The body of a loop of the running kernel: it is traced once, and carries the variables that change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import FrameType, MappingProxyType
from typing import Any

from ...bindings.mlir import ir, scf
from ...dialect.ops import FillOp
from ...dialect.types import with_state
from ..errors import Position, TraceError
from ..locations import position_of
from ..trace import KernelScope, KernelTrace
from ..values.fragment import Fragment
from ..values.index import Index
from ..values.tile import Tile
from .bytecode import (
    BodyNames,
    is_read_after,
    is_read_behind,
    may_be_read_first,
)
from .holders import Slot
from .state import ReachableState
from .variables import (
    NO_VALUE,
    Uncarried,
    assign,
    can_be_lost,
    check_same_type,
    check_usable,
    flatten,
    has_changed,
    is_carried,
    lost_value,
    number_like,
    promote,
    snapshot,
    text_of,
    unflatten,
)


class LoopBody:
    """The body of a loop while it is traced, in a block of its own.

    Attributes:
        op_name: "scf.for", whose block has the loop's variable as its first argument, or "scf.while",
            whose body is its first region.
        scope: the scope of its values.
        position: the position of the `for` statement.
        values_before: the values before the loop, of variables and of slots that the body changes.
        before: those of them that may be carried.
        reread: variables that an earlier trace of the body did not carry and may have to, each with the
            message if it cannot be carried.
        inside: the carried variables at the begin of the body.
    """

    def __init__(
        self,
        trace: KernelTrace,
        op_name: str,
        names: BodyNames,
        frame: FrameType,
        values_before: dict[str | Slot, Any],
        reread: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.trace = trace
        self.op_name = op_name
        self._arguments = 1 if op_name == "scf.for" else 0
        self.position: Position = position_of(frame)
        self.location = trace.here()
        self.scope = KernelScope(f"the loop in line {self.position.line}", self.position)
        self.names = names
        self.reread = reread
        self.values_before = values_before
        self.state = ReachableState(trace.locations.kernel, frame)
        self.mark = trace.mark()
        with self.location:
            self.before = {
                name: _materialize(value)
                for name, value in self.values_before.items()
                if isinstance(name, Slot)
                or (
                    name in names.assigned
                    and name != names.target
                    and _may_vary(value, name in names.read_first, name in reread)
                )
            }
        self.inside: dict[str | Slot, Any] = {}

    def begin(self, frame: FrameType) -> None:
        """Assign arguments of the block to each variable that may change."""
        carried = flatten(list(self.before.values()))
        types = [part.value.type for part in carried]
        with self.location:
            leading = [ir.IndexType.get()] * self._arguments
            self.block, self.holder = self.trace.new_block([*leading, *types])
        self.trace.enter(self.scope, self.block)
        arguments = list(self.block.arguments)[self._arguments :]
        new = iter([e.rewrap(a, self.scope) for e, a in zip(carried, arguments, strict=True)])
        self.inside = {name: unflatten(before, new) for name, before in self.before.items()}
        self.first = {name: flatten(inner) for name, inner in self.inside.items()}
        uncarried = {
            name: Uncarried(self.scope, message)
            for name, message in self.reread.items()
            if name not in self.inside
        }
        assign(frame, {**self.inside, **uncarried})

    def wider_body(self, frame: FrameType) -> LoopBody | None:
        """Return a body that carries more, to be traced instead; None if this one carries what it has to.

        Raises:
            TraceError: if the body changes what a loop cannot carry.
        """
        slots, reread = self.new_slots(frame), self.reread_names(frame)
        if not slots and not reread:
            return None
        after_body = snapshot(frame)
        unset = [
            name
            for name in reread
            if self.values_before[name] is NO_VALUE and _is_carriable(after_body[name])
        ]
        self.discard(frame, slots)
        with self.location:
            first_values = {name: number_like(after_body[name]) for name in unset}
        values_before = {**self.values_before, **slots, **first_values}
        reread = {**self.reread, **reread}
        return LoopBody(self.trace, self.op_name, self.names, frame, values_before, reread)

    def new_slots(self, frame: FrameType) -> dict[Slot, Any]:
        """Return the slots that the body changes and the loop does not carry yet, with their values.

        Raises:
            TraceError: if the body changes what a loop cannot carry.
        """
        self.state.check_shapes(self.scope.label)
        slots: dict[Slot, Any] = {}
        for slot, (before, after) in self.state.changed_slots(snapshot(frame)).items():
            if slot in self.before or not slot.is_read:
                continue
            if not _is_carriable(before):
                raise TraceError(self._refusal(slot, before, after))
            slots[slot] = before
        return slots

    def reread_names(self, frame: FrameType) -> dict[str, str]:
        """Return the variables that the body changes, and of which the next iteration may read the value,
        though it was taken for the one before the loop; each with the message if that cannot be carried.

        Such a body is traced again, with these variables carried, or with an error where they are read.
        """
        after_body = snapshot(frame)
        return {
            name: self._refusal(name, self.values_before[name], after_body.get(name))
            for name in self.names.assigned - {self.names.target}
            if name in self.values_before
            and name not in self.before
            and name not in self.reread
            and has_changed(self.values_before[name], after_body.get(name))
            and (
                self.values_before[name] is NO_VALUE
                or (isinstance(self.values_before[name], int) and is_read_behind(frame, name))
                or (
                    may_be_read_first(frame, name)
                    and (
                        isinstance(self.values_before[name], bool)
                        or name not in self.names.read_first
                    )
                )
            )
        }

    def discard(self, frame: FrameType, slots: Iterable[Slot]) -> None:
        """Undo the trace of the body, and restore the variables and slots from before it."""
        self.scope.open = False
        self.trace.leave(self.scope)
        self.trace.discard(self.mark, self.holder)
        for slot in slots:
            slot.write(self.state.before(slot))
        assign(frame, self.values_before)

    def end(
        self,
        frame: FrameType,
        operands: Sequence[Any],
        attributes: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Build the loop with the variables that changed, and assign its results to them.

        Args:
            frame: of the author's function.
            operands: the bounds of an `scf.for`, or the condition of an `scf.while`.
            attributes: of the loop.
        """
        trace, scope, after_body = self.trace, self.scope, snapshot(frame)
        after_body.update((slot, slot.read()) for slot in self.before if isinstance(slot, Slot))
        self._check_uncarried(after_body)
        changed = self._changed_variables(after_body, frame)
        is_for = self.op_name == "scf.for"
        with self.location:
            results = {name: [e.value for e in flatten(after)] for name, after in changed.items()}
            # Before arguments are erased: what is yielded may be one of them.
            yielded = [value for values in results.values() for value in values]
            if is_for:
                scf.yield_(yielded)
            else:
                ir.Operation.create("scf.condition", operands=[*operands, *yielded])
            types = {name: [v.type for v in values] for name, values in results.items()}
            inits = self._inits(types)
            del results, yielded
        trace.leave(scope)
        all_types = [type_ for value_types in types.values() for type_ in value_types]
        with self.location:
            loop = ir.Operation.create(
                self.op_name,
                results=all_types,
                operands=[*operands, *inits] if is_for else inits,
                attributes=dict(attributes),
                regions=1 if is_for else 2,
            )
            if not is_for:
                after = ir.Block.create_at_start(loop.operation.regions[1], all_types)
                with ir.InsertionPoint(after):
                    scf.yield_(list(after.arguments))
        self.block.append_to(loop.operation.regions[0])
        scope.open = False
        joined = {
            name: self.values_before[name]
            for name in self.before
            if name not in changed and self._is_same(name, after_body.get(name))
        }
        new = iter(loop.operation.results)
        for name, value in changed.items():
            wrapped = iter([part.rewrap(next(new), trace.scope) for part in flatten(value)])
            joined[name] = unflatten(value, wrapped)
        lost = self._lost_variables(frame, after_body, {*changed, *joined})
        assign(frame, {**lost, **joined})

    def _is_same(self, name: str | Slot, after: Any) -> bool:
        """Return whether a variable has the value from the begin of the body."""
        new, old = flatten(after), self.first[name]
        same = len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
        return after is self.inside[name] and same

    def _is_unread(
        self, name: str | Slot, after_body: dict[str | Slot, Any], frame: FrameType
    ) -> bool:
        """Return whether a variable is carried in case that the body reads it, and the body does not."""
        if name not in self.reread or is_read_behind(frame, str(name)):
            return False
        copies = {id(part) for value in after_body.values() for part in flatten(value)}
        return not any(
            id(part) in copies or any(True for _ in part.value.uses) for part in self.first[name]
        )

    def _changed_variables(
        self, after_body: dict[str | Slot, Any], frame: FrameType
    ) -> dict[str | Slot, Any]:
        """Return the variables that the body changed, with their values at its end.

        A variable that the body assigns before it reads it may get another type; it is then local to
        the body.
        """
        changed: dict[str | Slot, Any] = {}
        for name, before in self.before.items():
            after = after_body.get(name)
            if self._is_same(name, after) or self._is_unread(name, after_body, frame):
                continue
            try:
                changed[name] = check_usable(
                    name, check_same_type(name, before, after, self.scope.label)
                )
            except TraceError:
                if isinstance(name, Slot) or name in self.names.read_first:
                    raise
                continue
            for old, new in zip(flatten(before), flatten(changed[name]), strict=True):
                if isinstance(new, Index) and old.unsigned and not new.unsigned:
                    raise TraceError(
                        f"{name} is 0 or more before {self.scope.label}, and may be below after its "
                        "body; write sl.unsigned(...) around a difference that is not, or sl.signed(...) "
                        "before the loop"
                    )
        return changed

    def _inits(self, types: dict[str | Slot, list[Any]]) -> list[Any]:
        """Return the first value of each variable that changed; erase the arguments of the others."""
        inits: list[Any] = []
        entries = [
            (name, part, types[name][i] if name in types else None)
            for name, before in self.before.items()
            for i, part in enumerate(flatten(before))
        ]
        for number, (name, before, type_) in reversed(
            list(enumerate(entries, start=self._arguments))
        ):
            argument = self.block.arguments[number]
            if type_ is not None:
                inits.insert(0, _init(name, before.value, argument, type_))
            else:
                argument.replace_all_uses_with(before.value)
                self.block.erase_argument(number)
        return inits

    def _check_uncarried(self, after_body: dict[str | Slot, Any]) -> None:
        """Check that no variable that the loop does not carry depends on the iteration before.

        Raises:
            TraceError: if one does: each iteration would read its first value.
        """
        for name in sorted(self.names.read_first - set(self.before)):
            before, after = self.values_before.get(name), after_body.get(name)
            if name in self.values_before and has_changed(before, after):
                raise TraceError(self._refusal(name, before, after))

    def _refusal(self, name: str | Slot, before: Any, after: Any) -> str:
        carries = "integers, and indices, numbers, conditions and fragments of the kernel"
        if any(isinstance(part, Tile) for part in flatten(after)):
            carries = "an index: take the stages of one tile by it, t[k % 2]"
        return (
            f"{name} is {text_of(before)} before {self.scope.label}, and {text_of(after)} after its "
            f"body, which is traced once; a loop carries {carries}"
        )

    def _lost_variables(
        self, frame: FrameType, after_body: dict[str | Slot, Any], carried: set[str | Slot]
    ) -> dict[str | Slot, Any]:
        """Return the variables that the body assigns and the loop does not carry, as unusable values.

        After a loop without an iteration, they would be what they were.

        Raises:
            TraceError: if one that is not a number or a text may be read after the loop.
        """
        missing: dict[str | Slot, Any] = {}
        for name in self.names.assigned - carried - {self.names.target}:
            before, after = self.values_before.get(name), after_body.get(name)
            if name not in self.values_before or not has_changed(before, after):
                continue
            if can_be_lost(before, after):
                missing[name] = lost_value(self.scope)
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
    """Return whether a loop can carry a value: traced ones, integers and truth values."""
    values = flatten(value)
    others = [part for part in values if not isinstance(part, int)]
    return bool(values) and all(map(is_carried, others))


def _materialize(value: Any) -> Any:
    """Return a carried value: an index for an integer, registers for an expression."""

    def materialize(part: Any) -> Any:
        part = promote(part)
        is_lazy = isinstance(part, Fragment) and part.is_expression
        return Fragment(part.value) if is_lazy else part

    return unflatten(value, iter([materialize(part) for part in flatten(value)]))


def _may_vary(value: Any, is_read_first: bool, is_reread: bool) -> bool:
    """Return whether the loop may carry a variable: traced values, or an integer that it counts.

    Python's truth values are carried only if an earlier trace has shown that they change.
    """
    values = flatten(value)
    integers = [part for part in values if isinstance(part, int)]
    if integers and not (is_read_first or is_reread):
        return False
    if any(isinstance(part, bool) for part in integers) and not is_reread:
        return False
    if isinstance(value, list | tuple) and len(integers) == len(values):
        return False
    return _is_carriable(value)
