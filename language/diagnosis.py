"""Diagnostics of passes at the lines of a kernel: errors, and remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from ..bindings.diagnostics import remark_handler
from ..bindings.locations import frames
from ..bindings.mlir import ir
from .errors import Position, TraceError, excerpt, from_here

R = TypeVar("R")


@dataclass(frozen=True)
class Remark:
    """What a pass says of a line of a kernel.

    Attributes:
        message: one sentence.
        position: the line; None if the pass speaks of no line.

    Example:
        >>> print(sl.Remark("a layout was chosen"))
        remark: a layout was chosen
    """

    message: str
    position: Position | None = None

    def __str__(self) -> str:
        if self.position is None:
            return f"remark: {self.message}"
        return f"{self.position}: remark: {self.message}{excerpt(self.position)}"


class Remarks(tuple[Remark, ...]):
    """Remarks, in the order of the passes; as text, one after the other.

    Example:
        >>> print(sl.Remarks([sl.Remark("one"), sl.Remark("two")]))
        remark: one
        remark: two
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def position_in(location: Any) -> Position | None:
    """Return the position of an MLIR location: of the innermost call; None outside of files."""
    locations = frames(location)
    if not locations:
        return None
    first = locations[0]
    return Position(first.file, first.line, first.column)


def run_located(run: Callable[[], R], module: Any) -> R:
    """Run something on a kernel's module; its first error becomes a `TraceError` at its line.

    Raises:
        TraceError: for an error with a diagnostic.
    """
    emitted: list[TraceError] = []

    def collect(diagnostic: Any) -> bool:
        is_error = diagnostic.severity == ir.DiagnosticSeverity.ERROR
        if is_error:
            position = position_in(diagnostic.location)
            emitted.append(TraceError(from_here(diagnostic.message), position))
        return is_error

    try:
        with module.context.attach_diagnostic_handler(collect):
            return run()
    except ir.MLIRError as error:
        diagnostics = error.error_diagnostics
        if not diagnostics:
            raise
        first = diagnostics[0]
        located_error = TraceError(from_here(first.message), position_in(first.location))
        for note in first.notes:
            # MLIR attaches the whole op; the line says where it is.
            if note.message.startswith("see current operation"):
                continue
            place = position_in(note.location)
            message = from_here(note.message)
            line = f"{place}: note: {message}{excerpt(place)}" if place else message
            located_error.add_note(line)
    except Exception:
        if not emitted:
            raise
        (located_error, *_) = emitted
    raise located_error


@contextmanager
def remarks() -> Iterator[list[Remark]]:
    """Collect the remarks of the passes that run in the `with` block."""
    collected: list[Remark] = []
    with remark_handler(
        lambda location, message: collected.append(
            Remark(from_here(message), position_in(location))
        )
    ):
        yield collected
