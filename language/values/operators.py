"""Python's operators of numbers and of fragments."""

from __future__ import annotations

from typing import Any

from ..errors import TraceError
from ..trace import with_author_position

#: Operators by the names of NumPy's functions that are called for them.
_OF_NUMPY = {
    "add": "+",
    "divide": "/",
    "equal": "==",
    "floor_divide": "//",
    "greater": ">",
    "greater_equal": ">=",
    "less": "<",
    "less_equal": "<=",
    "matmul": "@",
    "multiply": "*",
    "not_equal": "!=",
    "power": "pow",
    "remainder": "%",
    "subtract": "-",
}


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

    __hash__ = object.__hash__

    def _apply(self, name: str, *operands: Any) -> Any:
        """Return an operation; `NotImplemented` if another operand's class has it."""
        raise NotImplementedError

    def __array_ufunc__(self, function: Any, method: str, *operands: Any, **_: Any) -> Any:
        """Return an operator with a number of NumPy; refuse NumPy's functions."""
        name, known = function.__name__, [getattr(operand, "ndim", 0) == 0 for operand in operands]
        if name in _OF_NUMPY and method == "__call__" and all(known):
            numbers = [each.item() if hasattr(each, "item") else each for each in operands]
            return self._apply(_OF_NUMPY[name], *numbers)
        instead = "arrays of the signature" if not all(known) else f"sl.{name}, if there is one"
        raise with_author_position(
            TraceError(f"np.{name} meets a value of the kernel; expected {instead}")
        )


class Unloaded(Operators):
    """What is in memory, and has no arithmetic before `sl.load` reads it."""

    __slots__ = ()

    instead = "read it first, by sl.load"

    @property
    def type_text(self) -> str:
        """The type for messages."""
        raise NotImplementedError

    def _apply(self, name: str, *operands: Any) -> Any:
        if name in ("==", "!="):
            return NotImplemented
        instead = "write sl.mma(a, b), of tiles" if name == "@" else self.instead
        raise with_author_position(
            TraceError(f"{self.type_text} is an operand of {name}; {instead}")
        )
