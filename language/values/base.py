"""The base of all traced values: an MLIR value, and the scope that defines it."""

from __future__ import annotations

from types import FrameType
from typing import Any, NoReturn, Self

from ..errors import TraceError
from ..locations import author_frame
from ..trace import KernelScope, current, with_author_position


class Traced:
    """A value of the running kernel.

    Attributes:
        scope: the scope that defines it; it can be used while that is open.
    """

    __slots__ = ("_value", "scope")

    #: The kind of value, for messages.
    kind = "a value"

    #: What to write instead of `.T`, for messages.
    instead_of_transpose = "tiles and windows have one"

    #: The advice where it is an operand of arithmetic but has none, for messages.
    instead = "expected a fragment or a number"

    def __init__(self, value: Any, scope: KernelScope | None = None) -> None:
        self._value = value
        self.scope = scope or current().scope

    @property
    def value(self) -> Any:
        """The MLIR value.

        Raises:
            TraceError: if its scope has ended.
        """
        self.check()
        return self._value

    def check(self) -> None:
        """Check that it can be used here.

        Raises:
            TraceError: if the scope that defines it has ended.
        """
        if not self.scope.open:
            raise with_author_position(TraceError(escape_message(self)))

    def rewrap(self, value: Any, scope: KernelScope | None = None) -> Self:
        """Return a value of the same class for another MLIR value of the same type."""
        return type(self)(value, scope)

    @property
    def type_text(self) -> str:
        """The type for messages."""
        return self.kind

    @property
    def T(self) -> Any:  # noqa: N802
        """The transpose, of tiles.

        Raises:
            TraceError: for other values.
        """
        self.check()
        text = f"{self.type_text} has no transpose; {self.instead_of_transpose}"
        raise with_author_position(TraceError(text))

    def __repr__(self) -> str:
        return f"<{self.type_text}>"

    def __bool__(self) -> bool:  # noqa: PLE0304
        self._refuse(
            "a Python truth value", "with sl.when(condition): or sl.where, and & | ~ to combine"
        )

    def __iter__(self) -> Any:
        self._refuse("a Python iterable", "for i in sl.range(n):")

    def __index__(self) -> int:  # noqa: PLE0305
        self._refuse(
            "a Python integer", "sl.range for the loop, or a keyword-only parameter for a constant"
        )

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        self._refuse("a Python number", "arithmetic on the value itself")

    def _refuse(self, used_as: str, instead: str) -> NoReturn:
        self.check()
        name = name_of(self)
        text = f"{self.type_text} of the running kernel"
        text = f"{name}, {text}," if name else text
        raise with_author_position(
            TraceError(f"{text} is used as {used_as}, but is known at run time only; use {instead}")
        )


def name_of(value: object, frame: FrameType | None = None) -> str | None:
    """Return the author's variable that has a value; None without one."""
    frame = frame or author_frame()
    for name, variable in frame.f_locals.items():
        if variable is value:
            return name
    return None


def describe(operand: object) -> str:
    """Describe an operand for a message: its type, or the Python object."""
    text = getattr(operand, "type_text", None)
    return text if isinstance(text, str) else repr(operand)


def escape_message(value: Traced, name: str = "") -> str:
    """Return the message for a value that is used after its scope, by its name if that is known."""
    name = name or name_of(value) or value.type_text
    return (
        f"{name} is used here, but {value.scope.label} defines it and has ended; give it a value "
        "before, so that it is carried out"
    )
