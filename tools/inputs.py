"""Input of the commands, and the error for files and arguments."""

import sys
from pathlib import Path


class InputError(Exception):
    """A file that cannot be read or written, or an invalid argument."""


def read(name: str) -> str:
    """Return the text of a file; "-" is standard input.

    Raises:
        InputError: if it cannot be read.
    """
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{shown_name(name)}: is not text ({error.reason} at byte {error.start})"
        ) from None


def shown_name(name: str) -> str:
    """Return the name of a file in messages and debug information."""
    return "<stdin>" if name == "-" else name
