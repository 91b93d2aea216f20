"""Input and output of the commands."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path


class InputError(Exception):
    """A file that cannot be read or written, or an argument that makes no sense."""


def read(name: str) -> str:
    """The text of a file; standard input for "-".

    Raises:
        InputError: if it cannot be read.
    """
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        shown = "<stdin>" if name == "-" else name
        raise InputError(f"{shown}: is not text ({error.reason} at byte {error.start})") from None


def write_all(files: Sequence[tuple[str, str | bytes]]) -> None:
    """Writes files so that each is there whole or not at all; "-" is standard output.

    All are written beside their places before any takes its place. What is no regular file (a pipe, a
    device) is written to as it is.

    Raises:
        InputError: if one cannot be written.
    """
    # Commands that write no files start sooner without it.
    import tempfile

    ready: list[tuple[str, str, str]] = []
    streams: list[tuple[str, bytes]] = []
    try:
        for name, content in files:
            data = content.encode() if isinstance(content, str) else content
            path = os.path.realpath(name)
            with _named(name):
                if name == "-" or (os.path.exists(path) and not os.path.isfile(path)):
                    if os.path.isdir(path) and name != "-":
                        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                    streams.append((name, data))
                    continue
                handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".smem")
                ready.append((temporary, path, name))
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.chmod(temporary, 0o644)
        while ready:
            temporary, path, name = ready[0]
            with _named(name):
                os.replace(temporary, path)
            ready.pop(0)
        for name, data in streams:
            _write_stream(name, data)
    finally:
        for temporary, _, _ in ready:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _write_stream(name: str, data: bytes) -> None:
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    with _named(name), open(name, "wb") as file:
        file.write(data)


@contextlib.contextmanager
def _named(name: str) -> Iterator[None]:
    """Says of errors within which file they are about."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
