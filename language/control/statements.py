"""What `if`, `and`, `or`, `not` and conditional expressions do: the calls in rewritten functions.

On Python's own values they do what Python does. On a condition of the running kernel they build an
`scf.if`, whose regions are traced one after the other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from functools import partial, reduce
from types import CodeType, FunctionType, MethodType
from typing import Any, Protocol

from ..errors import TraceError
from ..locations import LIBRARY_FOLDERS, author_frame
from ..ops import maths
from ..rewriting import rewrite
from ..trace import current, has_trace, statement
from ..values.base import Traced, describe
from ..values.boolean import Bool
from ..values.fragment import where
from ..values.index import Index, is_index
from ..values.scalar import Scalar
from .branch import Branch, BranchRegion
from .loop import RangeLoop, range_
from .variables import NO_VALUE, assign
from .while_loop import LoopBranch, while_loop


class ChosenBranch(Protocol):
    """The branches of an `if` statement. Its methods are called in this order."""

    def then(self) -> bool:
        """Begin the first branch; return whether its code is executed, or traced."""
        ...

    def otherwise(self) -> bool:
        """Begin the other branch; return whether its code is executed, or traced."""
        ...

    def leave(self, word: str) -> None:
        """Begin a `return`, `break` or `continue` in a branch."""
        ...

    def end(self) -> None:
        """End the statement."""
        ...


class PythonBranch:
    """An `if` on a value of Python's: one branch is executed."""

    __slots__ = ("_holds",)

    def __init__(self, holds: bool) -> None:
        self._holds = holds

    def then(self) -> bool:
        return self._holds

    def otherwise(self) -> bool:
        return not self._holds

    def leave(self, word: str) -> None:
        pass

    def end(self) -> None:
        pass


class TracedBranch:
    """An `if` on a condition of the kernel: both branches are traced."""

    def __init__(self, condition: Bool, ends_kernel: bool = False) -> None:
        """
        Args:
            condition: the condition.
            ends_kernel: whether the kernel ends after it, so that nothing reads what it changes.
        """
        self._test = condition.value
        self._ends_kernel = ends_kernel
        self._region: BranchRegion | None = None
        self._other: BranchRegion | None = None

    @statement
    def then(self) -> bool:
        self._region = BranchRegion(current(), "the branch", author_frame())
        self._region.enter()
        return True

    @statement
    def otherwise(self) -> bool:
        region, frame = self._region, author_frame()
        assert region is not None
        region.leave(frame)
        assign(frame, {name: region.before[name] for name in region.changed_names()})
        self._other = BranchRegion(region.trace, "the other branch", frame)
        self._other.enter()
        return True

    @statement
    def leave(self, word: str) -> None:
        raise TraceError(
            f"{word} leaves {current().scope.label}, whose condition is known at run time only; put what "
            "is done otherwise into else"
        )

    @statement
    def end(self, values: tuple[Any, Any] | None = None) -> Any:
        """Build the `scf.if`; return the result of `values`, those of the two branches."""
        frame, region = author_frame(), self._region
        assert region is not None
        (self._other or region).leave(frame, self._ends_kernel)
        branch = Branch(self._test, region, self._ends_kernel)
        branch.other = self._other
        return branch.build(frame, values)


class Statements:
    """The calls of the functions that are rewritten for one trace.

    Expressions nest, so those that have begun are on a stack. A `None` on it is one of Python's values:
    what is then returned is the operand that Python returns.

    Args:
        kernel: the code of the kernel, whose package is the author's.
    """

    def __init__(self, kernel: CodeType) -> None:
        self._package = _package_folder(kernel.co_filename)
        self._begun: list[tuple[Any, TracedBranch | None]] = []

    @statement
    def truth(self, value: Any) -> Any:
        """Return the truth value of a value: of the kernel's numbers, whether they are not 0."""
        if isinstance(value, Traced):
            return value != 0 if isinstance(value, Index | Scalar) else value
        return bool(value)

    def branch(self, condition: Any, ends_function: bool = False) -> ChosenBranch:
        """Begin an `if` statement.

        Args:
            condition: its condition.
            ends_function: whether the function ends after it.
        """
        if isinstance(condition, Bool):
            is_kernels = author_frame().f_code is current().locations.kernel
            return TracedBranch(condition, ends_function and is_kernels)
        return PythonBranch(bool(condition))

    def begin_then(self, condition: Any) -> bool:
        """Begin a conditional expression; return whether its first value is evaluated."""
        traced = TracedBranch(condition) if isinstance(condition, Bool) else None
        holds = traced.then() if traced else bool(condition)
        self._begun.append((holds, traced))
        return holds

    def begin_else(self) -> bool:
        """Return whether the second value of a conditional expression is evaluated."""
        holds, traced = self._begun[-1]
        return traced.otherwise() if traced else not holds

    def end_choice(self, value: Any, other_value: Any) -> Any:
        """Return the value of a conditional expression."""
        holds, traced = self._begun.pop()
        if traced is None:
            return value if holds else other_value
        return traced.end((value, other_value))

    def begin_and(self, left: Any) -> bool:
        """Begin `left and right`; return whether `right` is evaluated."""
        condition = self.truth(left)
        traced = TracedBranch(condition) if isinstance(condition, Bool) else None
        self._begun.append((left, traced))
        return traced.then() if traced else bool(condition)

    def begin_or(self, left: Any) -> bool:
        """Begin `left or right`; return whether `right` is evaluated."""
        return not self.begin_and(left) or (self._begun[-1][1] is not None and self.begin_else())

    @statement
    def end_and(self, right: Any) -> Any:
        """Return `left and right`."""
        left, traced = self._begun.pop()
        if traced is None:
            return right if left else left
        if isinstance(left, Bool):
            return traced.end((_condition(right, "and"), False))
        return traced.end((right, left))

    @statement
    def end_or(self, right: Any) -> Any:
        """Return `left or right`."""
        left, traced = self._begun.pop()
        if traced is None:
            return left if left else right
        if isinstance(left, Bool):
            return traced.end((True, _condition(right, "or")))
        return traced.end((left, right))

    @statement
    def goes_on(self, *flags: Any) -> Any:
        """Return whether no flag is set: a Python truth value, or a condition of the kernel."""
        traced = [flag for flag in flags if isinstance(flag, Bool)]
        if any(flag is True for flag in flags):
            return False
        return ~reduce(operator.or_, traced) if traced else True

    def is_over(self, iterable: Any, *flags: Any) -> bool:
        """Return whether a loop has ended while it is traced: Python iterates it, and a flag is set."""
        return not isinstance(iterable, RangeLoop) and any(flag is True for flag in flags)

    def while_loop(self) -> LoopBranch:
        """Return what iterates in place of a `while` statement."""
        return while_loop()

    def no_value(self) -> Any:
        """Return what stands for the value of a function that has not returned yet."""
        return NO_VALUE

    @statement
    def negate(self, value: Any) -> Any:
        """Return `not value`."""
        condition = self.truth(value)
        return ~condition if isinstance(condition, Bool) else not condition

    def callee(self, function: Any) -> Any:
        """Return what is called for a function: the author's are rewritten, too."""
        if not has_trace():
            return function
        if isinstance(function, FunctionType):
            return rewrite(function, self) if self._is_authors(function) else function
        if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
            return MethodType(self.callee(function.__func__), function.__self__)
        if isinstance(function, partial):
            return partial(self.callee(function.func), *function.args, **function.keywords)
        return _BUILTINS.get(function, function) if isinstance(function, Hashable) else function

    def _is_authors(self, function: FunctionType) -> bool:
        """Return whether a function is the author's: of no library, or of the package of the kernel."""
        file = function.__code__.co_filename
        return not file.startswith(LIBRARY_FOLDERS) or (
            self._package is not None and file.startswith(self._package)
        )


def _package_folder(file: str) -> str | None:
    """Return the folder of the installed package that has a file; None if none has."""
    for folder in LIBRARY_FOLDERS:
        if file.startswith(folder):
            return f"{folder}{file.removeprefix(folder).partition('/')[0]}/"
    return None


def _condition(value: Any, operator: str) -> Any:
    if isinstance(value, Bool | bool):
        return value
    raise TraceError(f"a condition {operator} {describe(value)}; expected two conditions")


def _extreme(builtin: Callable[..., Any]) -> Callable[..., Any]:
    """Return `min` or `max`, which also selects one of several values of the kernel."""
    name = f"{builtin.__name__}imum"
    is_better = operator.lt if builtin is min else operator.gt

    def better(first: Any, second: Any) -> Any:
        if is_index(first) and is_index(second):
            return getattr(maths, name)(first, second)
        return where(is_better(second, first), second, first)

    def extreme(*values: Any, **others: Any) -> Any:
        candidates = [*values[0]] if len(values) == 1 else [*values]
        if others or not any(isinstance(value, Traced) for value in candidates):
            return builtin(candidates, **others)
        return reduce(better, candidates)

    return extreme


def _range(*bounds: Any) -> Any:
    """Return Python's range, or the loop of the kernel if a bound is a value of the kernel."""
    if any(isinstance(bound, Traced) for bound in bounds):
        return range_(*bounds)
    return range(*bounds)


#: What is called for some of Python's functions: they take values of the kernel, too.
_BUILTINS = {range: _range, min: _extreme(min), max: _extreme(max)}
