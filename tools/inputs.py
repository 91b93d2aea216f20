"""Input and output of the commands."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


class InputError(Exception):
    """A file that cannot be read or written, or an argument that makes no sense."""


def read(name: str) -> str:
    """The text of a file; standard input for "-".

    Raises:
        InputError: if it cannot be read.
    """
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not text ({error.reason} at byte {error.start})") from None


def write_all(files: Sequence[tuple[str, str | bytes]]) -> None:
    """Writes files so that each is there whole or not at all; "-" is standard output.

    All are written beside their places before any takes its place.

    Raises:
        InputError: if one cannot be written.
    """
    ready: list[tuple[str, str]] = []
    try:
        for name, content in files:
            data = content.encode() if isinstance(content, str) else content
            if name == "-":
                sys.stdout.buffer.write(data)
                sys.stdout.flush()
                continue
            try:
                handle, temporary = tempfile.mkstemp(
                    dir=Path(name).absolute().parent, prefix=".smem"
                )
                ready.append((temporary, name))
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.chmod(temporary, 0o644)
            except OSError as error:
                raise InputError(f"{name}: {error.strerror}") from None
        while ready:
            temporary, name = ready[0]
            try:
                os.replace(temporary, name)
            except OSError as error:
                raise InputError(f"{name}: {error.strerror}") from None
            ready.pop(0)
    finally:
        for temporary, _ in ready:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
