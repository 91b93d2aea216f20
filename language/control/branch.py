"""Branches of the running kernel: an `scf.if`, whose regions are traced one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ...bindings.mlir import arith, ir, scf
from ..errors import TraceError
from ..locations import position_of
from ..trace import KernelScope, KernelTrace
from ..values.base import Traced
from ..values.boolean import condition_value
from ..values.filled import full
from ..values.fragment import Fragment
from ..values.index import Index, is_index
from ..values.scalar import Number, as_scalar, common_dtype
from .bytecode import is_read_after
from .exits import WithBlock
from .holders import Slot
from .state import ReachableState
from .variables import (
    NO_VALUE,
    assign,
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

#: Ops without effects, whose results are defined for all operands.
_SPECULATABLE = {
    f"arith.{name}"
    for name in (
        *("addi", "subi", "muli", "andi", "ori", "xori", "cmpi", "cmpf", "select", "constant"),
        *("index_cast", "index_castui", "extsi", "extui", "trunci", "addf", "subf", "mulf", "negf"),
        *("minsi", "minui", "maxsi", "maxui", "extf", "truncf", "sitofp", "uitofp"),
    )
} | {"scf.yield"}

#: Stands for the value of an expression among the variables of a branch.
_VALUE = "the value"


class BranchRegion:
    """A region that is traced into a block of its own, and the variables before and after it.

    Attributes:
        scope: the scope of its values.
        before, after: the variables of the author's function, and other slots that change.
        values_before, values_after: the same, with copies of lists, whose elements may change.
        state: the values outside of these variables, before it.
    """

    def __init__(
        self, trace: KernelTrace, label: str, frame: FrameType, syntax: str | None = None
    ) -> None:
        """
        Args:
            trace: the trace.
            label: what it is, for messages.
            frame: the frame of the author's function.
            syntax: the `with` statement that enters it; None if no such statement does.
        """
        self.trace = trace
        self.location = trace.here()
        self.scope = KernelScope(f"{label} in line {position_of(frame).line}")
        instead = "put what other threads do into sl.otherwise()"
        self.exit = WithBlock(frame, self.scope.label, syntax, instead) if syntax else None
        self.before = snapshot(frame)
        self.values_before = _copy_lists(self.before)
        self.values_after: dict[str | Slot, Any] = {}
        self.after: dict[str | Slot, Any] = {}
        self.state = ReachableState(trace.locations.kernel, frame)
        with self.location:
            self.block, self.holder = trace.new_block()

    def enter(self) -> None:
        """Begin the region."""
        self.trace.enter(self.scope, self.block)

    def leave(self, frame: FrameType, ends_kernel: bool = False) -> None:
        """End the region.

        Args:
            frame: of the author's function.
            ends_kernel: whether the kernel ends after it, so that nothing sees what it changes.

        Raises:
            TraceError: if a loop in it has not ended, a statement leaves it early, or it changes what
                cannot be carried.
        """
        if self.exit is not None:
            self.exit.check_end(frame)
        self.after = snapshot(frame)
        self.trace.leave(self.scope)
        self.scope.open = False
        if ends_kernel:
            return
        self.state.check_shapes(self.scope.label)
        for slot, (before, after) in self.state.changed_slots(self.after).items():
            self.before[slot], self.after[slot] = before, after
        self.values_before.update(
            (name, value) for name, value in self.before.items() if isinstance(name, Slot)
        )
        self.values_after = _copy_lists(self.after)

    def changed_names(self) -> list[str | Slot]:
        """Return the variables and slots that the region changed, without those that it added."""
        return [
            name
            for name, before in self.before.items()
            if has_changed(before, self.after.get(name))
        ]

    def include(self, other: BranchRegion) -> None:
        """Include the slots that another region of the same branch changed."""
        for name, before in other.before.items():
            if isinstance(name, Slot):
                for values in (self.before, self.after, self.values_before, self.values_after):
                    values.setdefault(name, before)

    @contextmanager
    def reenter(self) -> Iterator[None]:
        """Build ops at the end of its block."""
        self.trace.enter(self.scope, self.block)
        with self.location:
            yield
        self.trace.leave(self.scope)

    def yield_variables(self, names: list[str | Slot]) -> list[Any]:
        """End the block by a yield of variables, and return their values."""
        self.scope.open = True
        return yield_block(
            self.trace, self.scope, self.block, self.location, self.values_after, names
        )


def yield_block(
    trace: KernelTrace,
    scope: KernelScope,
    block: Any,
    location: Any,
    variables: Mapping[str | Slot, Any],
    names: list[str | Slot],
) -> list[Any]:
    """End a block by a yield of variables, close its scope, and return the values."""
    trace.enter(scope, block)
    with location:
        values = mlir_values(variables[name] for name in names)
        scf.yield_(values)
    trace.leave(scope)
    scope.open = False
    return values


def _copy_lists(values: Mapping[str | Slot, Any]) -> dict[str | Slot, Any]:
    """Return the values of variables, with copies of lists and tuples."""
    return {name: unflatten(value, iter(flatten(value))) for name, value in values.items()}


def mlir_values(variables: Iterable[Any]) -> list[Any]:
    """Return the MLIR values of variables, in lists and tuples, too."""
    return [promote(part).value for variable in variables for part in flatten(variable)]


class Branch:
    """An `scf.if` that is being built.

    Attributes:
        test: the MLIR condition.
        region: the region of `when`.
        other: the region of `otherwise`; None without one.
        ends_kernel: whether the kernel ends after it, so that no variable needs a result.
        if_op: the op; None before it is built.
    """

    def __init__(self, test: Any, region: BranchRegion, ends_kernel: bool = False) -> None:
        self.test = test
        self.region = region
        self.ends_kernel = ends_kernel
        self.other: BranchRegion | None = None
        self.if_op: Any = None

    def is_last(self) -> bool:
        """Whether nothing was built after it."""
        block = ir.InsertionPoint.current.block
        *_, last = block.operations
        return last.operation == self.if_op

    def undo(self, frame: FrameType) -> None:
        """Erase the `scf.if`, for another region, and restore the variables from before it."""
        restored = {name: self.region.before[name] for name in self.region.changed_names()}
        self.region.block.append_to(self.region.holder.regions[0])
        *_, yield_ = self.region.block.operations
        yield_.operation.erase()
        self.if_op.erase()
        assign(frame, restored)

    def build(self, frame: FrameType, values: tuple[Any, Any] | None = None) -> Any:
        """Build the `scf.if`, and assign its results to the variables that changed.

        Args:
            frame: of the author's function.
            values: those of an expression at the ends of the branches; the second one may be computed
                before.

        Returns:
            The result of `values`, if there are any.
        """
        regions = [self.region, *([self.other] if self.other else [])]
        if self.ends_kernel:
            self._build_if({}, self.region.yield_variables([]), self._other_block([]))
            return None
        for region in regions:
            region.scope.open = True
        for region in regions:
            for other in regions:
                region.include(other)
        ends, lost_names, truths = self._end_values(regions, frame)
        if values is not None:
            first_value, second_value = self._matching_values(*values)
            ends[_VALUE] = (second_value, first_value)
            self.region.values_after[_VALUE] = first_value
            others = self.other.values_after if self.other else self.region.values_before
            others[_VALUE] = second_value
        names = list(ends)
        for region in regions:
            region.scope.open = False
        first = self.region.yield_variables(names)
        second = self._other_block(names)
        if values is not None and second is not None and self._is_speculatable():
            results = iter(self._select(first, second))
        else:
            results = iter(self._build_if(ends, first, second))
        scope = self.region.trace.scope
        joined = {name: _join(*ends[name], results, scope) for name in names}
        result = joined.pop(_VALUE, None)
        lost = dict.fromkeys(lost_names, lost_value(self.region.scope))
        assign(frame, joined | truths | lost)
        return result

    def _matching_values(self, value: Any, other_value: Any) -> tuple[Any, Any]:
        """Return the values of an expression as values of the kernel, of one type.

        A Python number becomes one of the other value's type, an index that meets a float an f32.

        Raises:
            TraceError: if they are of other shapes or types.
        """
        first, second = value, other_value
        if len(flatten([first, second])) == 2:
            first = self._like(self.region, value, other_value)
            second = self._like(self.other or self.region, other_value, value)
        first, second = (
            unflatten(end, iter([promote(part) for part in flatten(end)]))
            for end in (first, second)
        )
        if not (is_carried(first) and is_carried(second) and _can_join(_VALUE, second, first)):
            raise TraceError(
                f"the values for a condition of the kernel are {text_of(value)} and "
                f"{text_of(other_value)}; expected two of one shape and type"
            )
        return first, second

    def _like(self, region: BranchRegion, value: Any, other: Any) -> Any:
        """Return a number as one of the type of another value; other values as they are."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(other, Fragment) and other.shape is not None and is_number:
            return full(other.shape, value, other.dtype, other.axis)
        are_numbers = all(
            isinstance(each, Number | int | float) and not isinstance(each, bool)
            for each in (value, other)
        )
        if not are_numbers or (is_index(value) and is_index(other)):
            return value
        dtype = common_dtype("a conditional expression", (value, other))
        with region.reenter():
            return as_scalar(value, dtype)

    def _build_if(self, ends: Any, first: list[Any], second: list[Any] | None) -> Any:
        """Return the results of an `scf.if` of the two regions."""
        with self.region.location:
            if_op = ir.Operation.create(
                "scf.if", results=[v.type for v in first], operands=[self.test], regions=2
            ).operation
        self._check_states(ends, first, second)
        self.region.block.append_to(if_op.regions[0])
        if second is not None:
            self.holder.append_to(if_op.regions[1])
        self.if_op = if_op
        return if_op.results

    def _is_speculatable(self) -> bool:
        """Whether the ops of both regions may be executed whatever the condition is."""
        return all(
            op.operation.name in _SPECULATABLE
            for block in (self.region.block, self.holder)
            for op in block.operations
        )

    def _select(self, first: list[Any], second: list[Any]) -> list[Any]:
        """Move the ops of both regions in front of a selection of their values; return the selected."""
        trace, point = self.region.trace, ir.InsertionPoint.current
        for block in (self.region.block, self.holder):
            *ops, yield_ = list(block.operations)
            yield_.operation.erase()
            for op in ops:
                op.operation.detach_from_parent()
                point.insert(op.operation)
        false, true = (condition_value(truth) for truth in (False, True))
        selected = []
        with self.region.location:
            for a, b in zip(first, second, strict=True):
                if b == false:
                    value = arith.andi(self.test, a)
                elif a == true:
                    value = arith.ori(self.test, b)
                else:
                    value = arith.select(self.test, a, b)
                trace.pure.append(value.owner)
                selected.append(value)
        return selected

    def _end_values(
        self, regions: list[BranchRegion], frame: FrameType
    ) -> tuple[dict[str | Slot, tuple[Any, Any]], list[str], dict[str | Slot, bool]]:
        """Return the variables that get results, with their values at the ends of the branches.

        These are the variables that changed, and those that both regions define. The second result are
        variables that cannot have a result, and are not read before they are assigned. The third are
        Python's truth values that both branches assign.

        Raises:
            TraceError: for a variable that is read, or a slot, that cannot have a result.
        """
        ends: dict[str | Slot, tuple[Any, Any]] = {}
        unread: list[str] = []
        truths: dict[str | Slot, bool] = {}
        changed = [
            name
            for region in regions
            for name in region.changed_names()
            if name in self.region.before
        ]
        for name in dict.fromkeys([*changed, *self._new_names()]):
            value = self.region.values_after.get(name)
            if (
                self.other
                and isinstance(value, bool)
                and self.other.values_after.get(name) is value
            ):
                truths[name] = value
                continue
            try:
                ends[name] = _matching_ends(name, regions)
            except TraceError:
                if isinstance(name, Slot) or is_read_after(frame, name):
                    raise
                unread.append(name)
        return ends, unread, truths

    def _new_names(self) -> Iterator[str | Slot]:
        """Yield the names that both regions define, with values that differ."""
        if self.other is None:
            return
        first, second = self.region.values_after, self.other.values_after
        for name in first.keys() & second.keys() - self.region.before.keys():
            # The other branch begins with the value that this one has assigned to the name.
            is_assigned = self.other.after[name] is not self.other.before.get(name)
            # The use of a traced value of another kind is an error where it is used.
            is_traced = any(
                isinstance(part, Traced) for part in flatten([first[name], second[name]])
            )
            is_joined = not is_traced or _can_join(name, first[name], second[name])
            if is_assigned and is_joined and has_changed(first[name], second[name]):
                yield name

    def _other_block(self, names: list[str | Slot]) -> list[Any] | None:
        """Return the yielded values of the other region; None if there is no other region."""
        if self.other is not None:
            self.holder = self.other.block
            return self.other.yield_variables(names)
        if not names:
            return None
        with self.region.location:
            self.holder, _ = self.region.trace.new_block()
        region = self.region
        scope = KernelScope("the branch that is not taken")
        return yield_block(
            region.trace, scope, self.holder, region.location, region.values_before, names
        )

    def _check_states(self, ends: Any, first: list[Any], second: list[Any] | None) -> None:
        names = [name for name, (before, _) in ends.items() for _ in flatten(before)]
        for name, then_yield, else_yield in zip(names, first, second or first, strict=True):
            if then_yield.type != else_yield.type:
                raise TraceError(
                    f"{name} is in flight after one branch and readable after the other; put sl.wait "
                    "in both, or after them"
                )


def _can_join(name: str | Slot, first: Any, second: Any) -> bool:
    """Return whether a name that is new in both branches has a value after them."""
    if not (is_carried(first) and is_carried(second)):
        return False
    try:
        check_same_type(name, first, second, "")
    except TraceError:
        return False
    return True


def _matching_ends(name: str | Slot, regions: list[BranchRegion]) -> tuple[Any, Any]:
    """Return the values of a variable at the ends of the branches.

    Raises:
        TraceError: if their types differ.
    """
    region = regions[0]
    others = regions[1].values_after if len(regions) == 2 else region.values_before
    before, after = others.get(name), region.values_after.get(name)
    if before is NO_VALUE and after is not None:
        before = others[name] = number_like(after)
    elif after is NO_VALUE and before is not None:
        after = region.values_after[name] = number_like(before)
    before = unflatten(before, iter([promote(part) for part in flatten(before)]))
    if not is_carried(before):
        raise TraceError(
            f"{name} is {text_of(before)} before {region.scope.label}, and changes in it; begin with a "
            "value of the kernel, for example sl.zeros"
        )
    after = check_same_type(name, before, after, region.scope.label)
    return before, check_usable(name, after)


def _join(before: Any, after: Any, results: Iterator[Any], scope: KernelScope) -> Any:
    """Return a variable with the results of an `scf.if`."""

    def wrap(old: Any, new: Any) -> Any:
        result = next(results)
        if isinstance(old, Index):
            return Index(result, scope, unsigned=old.unsigned and new.unsigned)
        return Fragment(result, scope) if isinstance(old, Fragment) else old.rewrap(result, scope)

    pairs = zip(flatten(before), flatten(after), strict=True)
    return unflatten(after, iter([wrap(old, new) for old, new in pairs]))
