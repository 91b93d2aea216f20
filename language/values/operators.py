"""Python's operators of numbers and of fragments."""

from __future__ import annotations

from typing import Any

from ..errors import TraceError
from ..trace import with_author_position
from . import elements
from .base import describe


class Operators:  # noqa: PLW1641
    """Arithmetic, comparisons and logic by Python's operators, element by element.

    What has them is no key of a dictionary and no element of a set: equality is known at run time only.
    """

    __slots__ = ()

    dtype: Any

    def __add__(self, other: Any) -> Any:
        return self._apply("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._apply("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._apply("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._apply("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        factor = elements.reciprocal(other, self.dtype)
        return self._apply("/", self, other) if factor is None else self._apply("*", self, factor)

    def __rtruediv__(self, other: Any) -> Any:
        return self._apply("/", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._apply("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._apply("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._apply("%", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._apply("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._apply("pow", other, self)

    def __matmul__(self, other: Any) -> Any:
        return self._apply("@", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._apply("@", other, self)

    def __and__(self, other: Any) -> Any:
        return self._apply("&", self, other)

    def __rand__(self, other: Any) -> Any:
        return self._apply("&", other, self)

    def __or__(self, other: Any) -> Any:
        return self._apply("|", self, other)

    def __ror__(self, other: Any) -> Any:
        return self._apply("|", other, self)

    def __xor__(self, other: Any) -> Any:
        return self._apply("^", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._apply("^", other, self)

    def __lshift__(self, other: Any) -> Any:
        return self._apply("<<", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._apply("<<", other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._apply(">>", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._apply(">>", other, self)

    def __neg__(self) -> Any:
        return self._apply("neg", self)

    def __abs__(self) -> Any:
        return self._apply("abs", self)

    def __invert__(self) -> Any:
        return self._apply("invert", self)

    def __lt__(self, other: Any) -> Any:
        return self._apply("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self._apply("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._apply(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._apply(">=", self, other)

    def __eq__(self, other: object) -> Any:
        return self._apply("==", self, other)

    def __ne__(self, other: object) -> Any:
        return self._apply("!=", self, other)

    def _apply(self, name: str, *operands: Any) -> Any:
        """Return an operation; `NotImplemented` if another operand's class has it."""
        raise NotImplementedError


class Unloaded(Operators):
    """What is in memory, and has no arithmetic before `sl.load` reads it."""

    __slots__ = ()

    instead = "read it first, by sl.load"

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]

    def _apply(self, name: str, *operands: Any) -> Any:
        if name in ("==", "!="):
            return NotImplemented
        instead = "write sl.mma(a, b), of tiles" if name == "@" else self.instead
        raise with_author_position(
            TraceError(f"{describe(self)} is an operand of {name}; {instead}")
        )

    def __bool__(self) -> bool:
        raise with_author_position(
            TraceError(
                f"{describe(self)} is used as a truth value; write x is not None, or a comparison"
            )
        )
