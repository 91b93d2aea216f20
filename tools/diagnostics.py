"""Diagnostics in a compiler's format: position, message and source line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..dialect.bindings import ir
from ..dialect.diagnostics import file_position, remark_handler

_SEVERITIES = {"ERROR": "error", "WARNING": "warning", "NOTE": "note", "REMARK": "remark"}


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic.

    Attributes:
        severity: "error", "warning", "note" or "remark".
        file: the input's name.
        line, column: from 1; 0 if the position is not known.
        message: the text, one or several lines.
    """

    severity: str
    file: str
    line: int
    column: int
    message: str


class Collector:
    """Collects the diagnostics of a context, in order."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Diagnostic] = []

    def add(self, severity: str, location: Any, message: str) -> None:
        """Add a diagnostic at an MLIR location."""
        line, column, file = 0, 0, self.file
        place = file_position(location)
        if place:
            # The bindings parse a string as a file named "-".
            file, line, column = (self.file if place[0] == "-" else place[0], *place[1:])
        self.found.append(Diagnostic(severity, file, line, column, message))

    @contextmanager
    def listen(self, context: Any) -> Iterator[None]:
        """Collect the diagnostics that a context emits in a `with` block."""

        def take(diagnostic: Any) -> bool:
            if not diagnostic.message:
                return True  # the bindings emit an empty error for a silenceable failure
            severity = _SEVERITIES[diagnostic.severity.name]
            self.add(severity, diagnostic.location, diagnostic.message)
            for note in diagnostic.notes:
                self.add("note", note.location, note.message)
            return True

        before = context.emit_error_diagnostics
        context.emit_error_diagnostics = True
        handler = context.attach_diagnostic_handler(take)
        try:
            with remark_handler(lambda location, text: self.add("remark", location, text)):
                yield
        finally:
            handler.detach()
            context.emit_error_diagnostics = before

    @property
    def failed(self) -> bool:
        """Whether there was an error."""
        return any(d.severity == "error" for d in self.found)


def print_diagnostics(collector: Collector, source: str | bytes) -> None:
    """Print diagnostics to standard error; for those in the input, its line and a caret.

    Bytecode has no lines: its locations are those of the text that it was made from.
    """
    lines = source.splitlines() if isinstance(source, str) else []
    for d in collector.found:
        where = f"{d.file}:{d.line}:{d.column}: " if d.line else f"{d.file}: "
        if d.severity == "note" and d.message.startswith("see current operation"):
            continue
        print(f"{where}{d.severity}: {d.message}", file=sys.stderr)
        shown = d.file == collector.file and d.severity in ("error", "warning")
        if shown and 0 < d.line <= len(lines):
            print(f"  {lines[d.line - 1]}\n  {' ' * (d.column - 1)}^", file=sys.stderr)


def is_mlir_error(error: Exception) -> bool:
    """Return whether an exception is MLIR's; its diagnostics have been emitted."""
    return isinstance(error, ir.MLIRError)
