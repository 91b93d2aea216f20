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
        line, column: from 1; 0 if the position is not known.
        message: the text, one or several lines.
        notes: the notes attached to it.
    """

    severity: str
    file: str
    line: int
    column: int
    message: str
    notes: tuple["Diagnostic", ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as `--diagnostics=json` prints it."""
        made = json_diagnostic(self.severity, self.message, self.file, self.line, self.column)
        return made | {"notes": [note.as_json() for note in self.notes]}


class Collector:
    """Collects the diagnostics of a context, in order."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Diagnostic] = []

    def add(
        self, severity: str, location: Any, message: str, notes: tuple[Diagnostic, ...] = ()
    ) -> None:
        """Add a diagnostic at an MLIR location, which may be its text."""
        self.found.append(self._diagnostic(severity, location, message, notes))

    def _diagnostic(
        self, severity: str, location: Any, message: str, notes: tuple[Diagnostic, ...] = ()
    ) -> Diagnostic:
        line, column, file = 0, 0, self.file
        place = file_position(location)
        if place:
            # The bindings parse a string as a file named "-".
            file, line, column = (self.file if place[0] == "-" else place[0], *place[1:])
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
                # The bindings attach the whole op; the position says where it is.
                if not note.message.startswith("see current operation")
            )
            severity = _SEVERITIES[diagnostic.severity.name]
            self.add(severity, diagnostic.location, diagnostic.message, notes)
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


def with_notes(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield diagnostics, each followed by its notes."""
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.notes


def print_diagnostics(collector: Collector, source: str | bytes, diagnostics: str = "text") -> None:
    """Print diagnostics to standard error; for those in the input, or in Python
    that made it, the line and a caret.

    Args:
        collector: holds the diagnostics.
        source: the input's text. Bytecode has no lines: its locations are those of the text that it was
            made from.
        diagnostics: their form, "text" or "json": one object in each line, with its notes.
    """
    if diagnostics == "json":
        for each in collector.found:
            print(json.dumps(each.as_json()), file=sys.stderr)
        return
    lines = source.splitlines() if isinstance(source, str) else []
    for d in with_notes(collector.found):
        where = f"{d.file}:{d.line}:{d.column}: " if d.line else f"{d.file}: "
        print(f"{where}{d.severity}: {d.message}", file=sys.stderr)
        text = _line(d, collector.file, lines)
        if text is not None and d.severity in ("error", "warning"):
            print(f"  {text}\n  {' ' * (d.column - 1)}^", file=sys.stderr)


def _line(diagnostic: Diagnostic, file: str, lines: list[str]) -> str | None:
    """Return the source line of a diagnostic: of the input, or of the Python that made it.

    None if it is not known.
    """
    if diagnostic.file == file:
        return lines[diagnostic.line - 1] if 0 < diagnostic.line <= len(lines) else None
    if not diagnostic.file.endswith(".py"):
        return None
    return linecache.getline(diagnostic.file, diagnostic.line).rstrip("\n") or None


def is_mlir_error(error: Exception) -> bool:
    """Return whether an exception is MLIR's; its diagnostics have been emitted."""
    return isinstance(error, ir.MLIRError)
