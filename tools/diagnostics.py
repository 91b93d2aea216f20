"""Diagnostics in a compiler's format (position, message and source line), or as JSON."""

import json
import linecache
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..bindings.diagnostics import file_position, remark_handler
from ..bindings.mlir import ir
from .command import json_diagnostic

_SEVERITIES = {"ERROR": "error", "WARNING": "warning", "NOTE": "note", "REMARK": "remark"}


@dataclass(frozen=True)
class Diagnostic:
    """One diagnostic.

    Attributes:
        severity: "error", "warning", "note" or "remark".
        file: the input's name.
        line, column: from 1; 0 if the position is unknown.
        message: the text, one or several lines.
        notes: its notes.
    """

    severity: str
    file: str
    line: int
    column: int
    message: str
    notes: tuple["Diagnostic", ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--diagnostics=json` prints."""
        fields = json_diagnostic(self.severity, self.message, self.file, self.line, self.column)
        return fields | {"notes": [note.as_json() for note in self.notes]}


class Collector:
    """Collects the diagnostics of a context, in order."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.diagnostics: list[Diagnostic] = []

    def add(
        self, severity: str, location: Any, message: str, notes: tuple[Diagnostic, ...] = ()
    ) -> None:
        """Add a diagnostic at a location, an MLIR location or its text."""
        self.diagnostics.append(self._diagnostic(severity, location, message, notes))

    def _diagnostic(
        self, severity: str, location: Any, message: str, notes: tuple[Diagnostic, ...] = ()
    ) -> Diagnostic:
        line, column, file = 0, 0, self.file
        position = file_position(location)
        if position:
            # The bindings parse a string as a file named "-".
            file, line, column = (self.file if position[0] == "-" else position[0], *position[1:])
        return Diagnostic(severity, file, line, column, message, notes)

    @contextmanager
    def listen(self, context: Any) -> Iterator[None]:
        """Collect the diagnostics that a context emits in a `with` block."""

        def take(diagnostic: Any) -> bool:
            if not diagnostic.message:
                return True  # the bindings emit an empty error for a silenceable failure
            notes = tuple(
                self._diagnostic("note", note.location, note.message)
                for note in diagnostic.notes
                # The bindings attach the whole op, which the position already names.
                if not note.message.startswith("see current operation")
            )
            severity = _SEVERITIES[diagnostic.severity.name]
            self.add(severity, diagnostic.location, diagnostic.message, notes)
            return True

        emitted_before = context.emit_error_diagnostics
        context.emit_error_diagnostics = True
        handler = context.attach_diagnostic_handler(take)
        try:
            with remark_handler(lambda location, text: self.add("remark", location, text)):
                yield
        finally:
            handler.detach()
            context.emit_error_diagnostics = emitted_before

    @property
    def has_error(self) -> bool:
        """Whether there was an error."""
        return any(d.severity == "error" for d in self.diagnostics)


def with_notes(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield diagnostics, each followed by its notes."""
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.notes


def print_diagnostics(collector: Collector, source: str | bytes, form: str = "text") -> None:
    """Print diagnostics to standard error, with source lines and carets where the source is known.

    Args:
        collector: the collected diagnostics.
        source: the input's text. The locations of bytecode are in another text, so it has no lines.
        form: "text", or "json": one object a line, with its notes.
    """
    if form == "json":
        for diagnostic in collector.diagnostics:
            print(json.dumps(diagnostic.as_json()), file=sys.stderr)
        return
    lines = source.splitlines() if isinstance(source, str) else []
    for diagnostic in with_notes(collector.diagnostics):
        prefix = (
            f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: "
            if diagnostic.line
            else f"{diagnostic.file}: "
        )
        print(f"{prefix}{diagnostic.severity}: {diagnostic.message}", file=sys.stderr)
        text = _line(diagnostic, collector.file, lines)
        if text is not None and diagnostic.severity in ("error", "warning"):
            print(f"  {text}\n  {' ' * (diagnostic.column - 1)}^", file=sys.stderr)


def _line(diagnostic: Diagnostic, file: str, lines: list[str]) -> str | None:
    """Return the source line of a diagnostic, of the input or of a Python file; None if it is unknown."""
    if diagnostic.file == file:
        return lines[diagnostic.line - 1] if 0 < diagnostic.line <= len(lines) else None
    if not diagnostic.file.endswith(".py"):
        return None
    return linecache.getline(diagnostic.file, diagnostic.line).rstrip("\n") or None


def is_mlir_error(error: Exception) -> bool:
    """Whether an exception is MLIR's, whose diagnostics have been emitted."""
    return isinstance(error, ir.MLIRError)
