"""Errors of a trace: one sentence, at a line of the kernel."""

from __future__ import annotations

import linecache
from pathlib import Path
from types import TracebackType
from typing import NamedTuple


class Position(NamedTuple):
    """A place in Python source; as text, with the file's path from the current folder.

    Attributes:
        file: the name of the file.
        line: from 1.
        column: from 1, in characters; 0 if it is not known.
        end: the column after the last character, 0 if it is not known or in another line.

    Example:
        >>> print(sl.Position("kernel.py", 12, 5))
        kernel.py:12:5
    """

    file: str
    line: int
    column: int = 0
    end: int = 0

    def __str__(self) -> str:
        return f"{from_here(self.file)}:{self.line}" + (f":{self.column}" if self.column else "")


def from_here(text: str) -> str:
    """Return a text in which paths below the current folder are relative to it."""
    return text.replace(f"{Path.cwd()}/", "")


class TraceError(Exception):
    """A mistake in a kernel, found while it was traced or lowered.

    Attributes:
        message: one sentence, with the shapes, and what would fit.
        position: where in the kernel; None before it is known.
    """

    def __init__(self, message: str, position: Position | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position

    def __str__(self) -> str:
        if self.position is None:
            return self.message
        return f"{self.position}: {self.message}" + excerpt(self.position)


def excerpt(position: Position) -> str:
    """Return the source line of a position and a caret below it, each after a line break.

    It is empty for a file that Python cannot read.
    """
    line = linecache.getline(position.file, position.line).rstrip("\n")
    if not line.strip():
        return ""
    text = line.lstrip()
    if not position.column:
        return f"\n    {text}"
    indent = len(line) - len(text)
    start = max(0, position.column - 1 - indent)
    width = max(1, position.end - position.column) if position.end else 1
    return f"\n    {text}\n    {' ' * start}^{'~' * (width - 1)}"


def without_frames(traceback: TracebackType | None, folder: str) -> TracebackType | None:
    """Return a traceback without the frames of files in a folder."""
    if traceback is None:
        return None
    next_frames = without_frames(traceback.tb_next, folder)
    if traceback.tb_frame.f_code.co_filename.startswith(folder):
        return next_frames
    return TracebackType(next_frames, traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)
