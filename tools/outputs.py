"""Output of the commands: all files are written, or none."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence

from .inputs import InputError


def write_all(files: Sequence[tuple[str, str | bytes]]) -> None:
    """Write files, all or none; "-" is standard output.

    Every file is written under a temporary name in its folder, and then renamed; if a rename fails, the
    earlier ones are reverted. An existing file keeps its permissions, and its owner if that is allowed; a
    new file follows the umask. A pipe or a device is written to directly.

    Raises:
        InputError: if a file cannot be written, or two outputs have the same path.
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
                    raise InputError(f"{name}: is the path of two outputs ({same} and {name})")
                draft = _Draft(name, path)
                drafts.append(draft)
                draft.write(data)
        for draft in drafts:
            with _named(draft.name):
                draft.install()
        for name, data in streams:
            _write_stream(name, data)
    except BaseException:
        for draft in reversed(drafts):
            draft.revert()
        raise
    finally:
        for draft in drafts:
            draft.clean_up()


class _Draft:
    """An output under a temporary name, before it replaces the file at its path.

    Attributes:
        name: its name on the command line.
        path: its path.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        unique = os.path.join(os.path.dirname(path), f".smem-{os.urandom(8).hex()}")
        #: Temporary names of the new file, and of the file that it replaces.
        self._written, self._kept = f"{unique}.new", f"{unique}.old"
        self._before: os.stat_result | None = None
        self._installed = False

    def write(self, data: bytes) -> None:
        """Write the file under its temporary name, with its final permissions.

        Raises:
            OSError: if it cannot be written, or the existing file is read-only.
        """
        with contextlib.suppress(FileNotFoundError):
            self._before = os.stat(self.path)
        if self._before and not os.access(self.path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # Private until it has the permissions of the existing file.
        mode = 0o600 if self._before else 0o666
        handle = os.open(self._written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if self._before:
            self._set_owner(self._before)
            os.chmod(self._written, stat.S_IMODE(self._before.st_mode))

    def _set_owner(self, before: os.stat_result) -> None:
        """Set the owner and the group of the existing file, as far as that is allowed."""
        for owner in (before.st_uid, -1):
            with contextlib.suppress(PermissionError):
                os.chown(self._written, owner, before.st_gid)
                return

    def install(self) -> None:
        """Rename it to its path; the existing file stays under a temporary name.

        Raises:
            OSError: if it cannot.
        """
        if self._before:
            # On a file system without hard links, the existing file cannot be restored.
            with contextlib.suppress(OSError):
                os.link(self.path, self._kept)
        self._installed = True
        os.replace(self._written, self.path)

    def revert(self) -> None:
        """Restore the existing file, if it was replaced."""
        if not self._installed or os.path.lexists(self._written):
            return
        with contextlib.suppress(OSError):
            if os.path.lexists(self._kept):
                os.replace(self._kept, self.path)
            elif not self._before:
                os.unlink(self.path)

    def clean_up(self) -> None:
        """Remove the temporary files."""
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
    """Add a file's name to the errors of a `with` block."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
