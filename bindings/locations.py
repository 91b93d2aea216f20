"""Positions in files of MLIR locations, with the calls that lead to them.

A location is read from its text, the only form that the location classes of all bindings have: some
have no accessors, and those of others end the process at a file name that is not UTF-8.
"""

import re
from pathlib import Path
from typing import NamedTuple

from .irtypes import Location
from .mlir import ir


class SourceFrame(NamedTuple):
    """A call frame of a location: a position, and the function that contains it.

    Attributes:
        file: the file's name; "-" for a module that was parsed from text.
        line, column: from 1; 0 if they are not known.
        function: the name around the position (a NameLoc), for example of a Python function; "" without
            one.
    """

    file: str
    line: int
    column: int
    function: str = ""


#: Strings with the position or the opening bracket after them, and brackets.
_TOKEN = re.compile(
    r'"(?P<text>(?:[^"\\]|\\.)*)"(?::(?P<line>\d+):(?P<column>\d+)|(?P<names>\())?|->|[<>\[\],]',
    re.S,
)

_ESCAPE = re.compile(rb'\\([0-9A-Fa-f]{2}|[\\"nt])')
_ESCAPED = {b"\\": b"\\", b'"': b'"', b"n": b"\n", b"t": b"\t"}

#: Folders whose functions create ops for their callers: the bindings, and this dialect's builders.
_BUILDERS = tuple(f"{Path(file).parent}/" for file in (ir.__file__, __file__))


def frames(location: Location | str) -> tuple[SourceFrame, ...]:
    """Return the positions of a location, from the innermost call to the outermost; none if it has no
    file.

    Of fused locations, the first that has a file counts. Functions that only create ops for their callers
    are left out.

    Args:
        location: the location, or its text.
    """
    chain = _all_frames(str(location))
    return tuple(frame for frame in chain if not frame.file.startswith(_BUILDERS)) or chain


def _all_frames(text: str) -> tuple[SourceFrame, ...]:
    """Return all frames. The text has them in the order of the result, so nesting needs no recursion."""
    chain: list[SourceFrame] = []
    # The number of frames before each fused location around the current token.
    frame_counts: list[int] = []
    # Brackets of metadata and of fused locations that do not count.
    metadata, skipped, function = 0, 0, ""
    for token in _TOKEN.finditer(text):
        symbol = token[0]
        if symbol in ("<", ">"):
            metadata += 1 if symbol == "<" else -1
        elif metadata or symbol == "->":
            continue
        elif skipped:
            skipped += {"[": 1, "]": -1}.get(symbol, 0)
            if not skipped:
                frame_counts.pop()
        elif symbol == "[":
            frame_counts.append(len(chain))
        elif symbol == "]":
            frame_counts.pop()
        elif symbol == ",":
            skipped = int(bool(frame_counts) and len(chain) > frame_counts[-1])
        elif token["line"]:
            name = _unescape(token["text"])
            chain.append(SourceFrame(name, int(token["line"]), int(token["column"]), function))
            function = ""
        elif token["names"]:
            function = _unescape(token["text"])
    return tuple(chain)


def _unescape(text: str) -> str:
    """Return a string of MLIR's text without its escapes; bytes that are not UTF-8 are replaced."""
    if "\\" not in text:
        return text
    data = _ESCAPE.sub(
        lambda match: _ESCAPED.get(match[1]) or bytes.fromhex(match[1].decode()), text.encode()
    )
    return data.decode(errors="replace")
