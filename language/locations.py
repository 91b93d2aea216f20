"""Locations in the Python source of a kernel: folders, frames, positions, MLIR locations."""

from __future__ import annotations

import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from ..bindings.mlir import ir
from .errors import Position

#: The folder of this package; its frames are not the author's.
FOLDER = f"{Path(__file__).parent}/"

#: Folders of Python's library, of installed packages, and of this package.
LIBRARY_FOLDERS = tuple(
    {f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {FOLDER}
)


def author_frame() -> FrameType:
    """Return the innermost frame of the author's code: the kernel, or a function that it calls."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(FOLDER) and frame.f_back is not None:
        frame = frame.f_back
    return frame


@lru_cache(maxsize=256)
def _positions(code: CodeType) -> tuple[Position, ...]:
    """Return the position of each instruction of a code object."""
    positions = []
    for line, end_line, column, end in code.co_positions():
        known_line = line or code.co_firstlineno
        if column is None:
            positions.append(Position(code.co_filename, known_line))
        else:
            last = (end or 0) + 1 if end_line == line else 0
            positions.append(Position(code.co_filename, known_line, column + 1, last))
    return tuple(positions)


def position_of(frame: FrameType) -> Position:
    """Return the position of the instruction that a frame executes."""
    return position_at(frame.f_code, frame.f_lasti) or Position(
        frame.f_code.co_filename, frame.f_lineno
    )


def position_at(code: CodeType, offset: int) -> Position | None:
    """Return the position of an instruction; None before the first one."""
    positions = _positions(code)
    index = offset // 2
    return positions[index] if 0 <= index < len(positions) else None


class Locations:
    """The MLIR locations of a trace, of one context: positions, with the calls that lead to them."""

    def __init__(self, kernel: CodeType) -> None:
        self.kernel = kernel
        self._cache: dict[Any, Any] = {}

    def of_frame(self, frame: FrameType) -> Any:
        """Return the location of a frame; in a function that the kernel calls, with the call."""
        if frame.f_code is self.kernel:
            return self._location(frame)
        calls, back = [self._location(frame)], frame.f_back
        while back is not None:
            if not back.f_code.co_filename.startswith(FOLDER):
                calls.append(self._location(back))
            if back.f_code is self.kernel:
                break
            back = back.f_back
        if back is None or len(calls) == 1:
            return calls[0]
        return ir.Location.callsite(calls[0], calls[1:])

    def _location(self, frame: FrameType) -> Any:
        key = (frame.f_code, frame.f_lasti)
        location = self._cache.get(key)
        if location is None:
            position = position_of(frame)
            location = ir.Location.file(position.file, position.line, max(1, position.column))
            self._cache[key] = location
        return location
