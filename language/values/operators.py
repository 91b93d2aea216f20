"""Python's operators of numbers and of fragments."""

from __future__ import annotations

from typing import Any


class Operators:
    """Arithmetic, comparisons and logic by Python's operators, element by element."""

    __slots__ = ()

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
        return self._apply("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._apply("/", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._apply("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return self - self._apply("//", self, other) * other

    def __pow__(self, other: Any) -> Any:
        return self._apply("pow", self, other)

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

    def __lshift__(self, other: Any) -> Any:
        return self._apply("<<", self, other)

    def __rshift__(self, other: Any) -> Any:
        return self._apply(">>", self, other)

    def __neg__(self) -> Any:
        return self._apply("neg", self)

    def __abs__(self) -> Any:
        return self._apply("abs", self)

    def __invert__(self) -> Any:
        return self._apply("^", self, True)

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

    __hash__ = object.__hash__

    def _apply(self, name: str, *operands: Any) -> Any:
        """Return an operation; `NotImplemented` if another operand's class has it."""
        raise NotImplementedError
