"""Output of the commands: all files or none."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence

from .inputs import InputError


def write_all(files: Sequence[tuple[str, str | bytes]]) -> None:
    """Writes files so that all are there whole, or all are as they were; "-" is standard output.

    All are written beside their places before any takes its place; if one then cannot, those before
    it go back. A file that was there keeps its permissions, and its owner if that is allowed; a new one
    has what the umask leaves. What is no regular file (a pipe, a device) is written to as it is.

    Raises:
        InputError: if one cannot be written, or two have the same place.
    """
    drafts: list[_Draft] = []
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
                same = next((draft.name for draft in drafts if draft.path == path), None)
                if same is not None:
                    raise InputError(f"{name}: is the place of two outputs ({same} and {name})")
                draft = _Draft(name, path)
                drafts.append(draft)
                draft.write(data)
        for draft in drafts:
            with _named(draft.name):
                draft.take_place()
        for name, data in streams:
            _write_stream(name, data)
    except BaseException:
        for draft in reversed(drafts):
            draft.take_back()
        raise
    finally:
        for draft in drafts:
            draft.forget()


class _Draft:
    """A file that is to take its place.

    Attributes:
        name: what its user calls it.
        path: its place.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        unique = os.path.join(os.path.dirname(path), f".smem-{os.urandom(8).hex()}")
        #: What it is written to, and how the file that was there is called when it has left.
        self._written, self._kept = f"{unique}.new", f"{unique}.old"
        self._before: os.stat_result | None = None
        self._takes_place = False

    def write(self, data: bytes) -> None:
        """Writes it beside its place, with the permissions that it will have.

        Raises:
            OSError: if it cannot be written, or what is there is protected.
        """
        with contextlib.suppress(FileNotFoundError):
            self._before = os.stat(self.path)
        if self._before and not os.access(self.path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # Nobody else reads it before it has the permissions of what was there.
        mode = 0o600 if self._before else 0o666
        handle = os.open(self._written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if self._before:
            self._own(self._before)
            os.chmod(self._written, stat.S_IMODE(self._before.st_mode))

    def _own(self, before: os.stat_result) -> None:
        """Gives it the owner and the group of what was there, as far as that is allowed."""
        for owner in (before.st_uid, -1):
            with contextlib.suppress(PermissionError):
                os.chown(self._written, owner, before.st_gid)
                return

    def take_place(self) -> None:
        """Takes its place; what was there stays under another name.

        Raises:
            OSError: if it cannot.
        """
        if self._before:
            # A file system without links keeps nothing: what has taken its place then stays there.
            with contextlib.suppress(OSError):
                os.link(self.path, self._kept)
        self._takes_place = True
        os.replace(self._written, self.path)

    def take_back(self) -> None:
        """Puts back what was there, if it has taken its place."""
        if not self._takes_place or os.path.lexists(self._written):
            return
        with contextlib.suppress(OSError):
            if os.path.lexists(self._kept):
                os.replace(self._kept, self.path)
            elif not self._before:
                os.unlink(self.path)

    def forget(self) -> None:
        """Removes what is left beside its place."""
        for path in (self._written, self._kept):
            with contextlib.suppress(OSError):
                os.unlink(path)


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
