"""Python operators on i32 values: functions of `layout/` then compute in IR for one thread what they
compute in NumPy for all threads."""

from __future__ import annotations

from ..bindings.irtypes import Value
from . import emit


class I32:
    """A non-negative i32 value; its operators, with `int` or `I32`, emit `arith` ops."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __add__(self, other: I32 | int) -> I32:
        return self._binary("addi", other)

    def __radd__(self, other: int) -> I32:
        return self + other

    def __sub__(self, other: I32 | int) -> I32:
        return self._binary("subi", other)

    def __mul__(self, other: I32 | int) -> I32:
        return self._binary("muli", other)

    def __floordiv__(self, other: int) -> I32:
        return self._binary("divui", other)

    def __mod__(self, other: int) -> I32:
        return self._binary("remui", other)

    def __xor__(self, other: I32 | int) -> I32:
        return self._binary("xori", other)

    def __rxor__(self, other: int) -> I32:
        return self ^ other

    def __and__(self, other: int) -> I32:
        return self._binary("andi", other)

    def __rshift__(self, other: int) -> I32:
        return self._binary("shrui", other)

    def _binary(self, name: str, other: I32 | int) -> I32:
        return I32(emit.binary(name, self.value, other.value if isinstance(other, I32) else other))
