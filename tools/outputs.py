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
            with _name_errors(name):
                if name == "-" or (os.path.exists(path) and not os.path.isfile(path)):
                    if os.path.isdir(path) and name != "-":
                        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                    streams.append((name, data))
                    continue
                other_name = next((draft.name for draft in drafts if draft.path == path), None)
                if other_name is not None:
                    raise InputError(
                        f"{name}: is the path of two outputs ({other_name} and {name})"
                    )
                draft = _Draft(name, path)
                drafts.append(draft)
                draft.write(data)
        for draft in drafts:
            with _name_errors(draft.name):
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
        name: the name on the command line.
        path: the path.
    """

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        unique = os.path.join(os.path.dirname(path), f".smem-{os.urandom(8).hex()}")
        #: Temporary names of the new file, and of the file that it replaces.
        self._new_path, self._old_path = f"{unique}.new", f"{unique}.old"
        self._old_status: os.stat_result | None = None
        self._installed = False

    def write(self, data: bytes) -> None:
        """Write the file under its temporary name, with its final permissions.

        Raises:
            OSError: if it cannot be written, or the existing file is read-only.
        """
        with contextlib.suppress(FileNotFoundError):
            self._old_status = os.stat(self.path)
        if self._old_status and not os.access(self.path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # Private until it has the permissions of the existing file.
        mode = 0o600 if self._old_status else 0o666
        handle = os.open(self._new_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if self._old_status:
            self._set_owner(self._old_status)
            os.chmod(self._new_path, stat.S_IMODE(self._old_status.st_mode))

    def _set_owner(self, old_status: os.stat_result) -> None:
        """Set the owner and the group of the existing file, as far as that is allowed."""
        for owner in (old_status.st_uid, -1):
            with contextlib.suppress(PermissionError):
                os.chown(self._new_path, owner, old_status.st_gid)
                return

    def install(self) -> None:
        """Rename the draft to its path; the existing file stays under a temporary name.

        Raises:
            OSError: if the file cannot be replaced.
        """
        if self._old_status:
            # On a file system without hard links, the existing file cannot be restored.
            with contextlib.suppress(OSError):
                os.link(self.path, self._old_path)
        self._installed = True
        os.replace(self._new_path, self.path)

    def revert(self) -> None:
        """Restore the existing file, if it was replaced."""
        if not self._installed or os.path.lexists(self._new_path):
            return
        with contextlib.suppress(OSError):
            if os.path.lexists(self._old_path):
                os.replace(self._old_path, self.path)
            elif not self._old_status:
                os.unlink(self.path)

    def clean_up(self) -> None:
        """Remove the temporary files."""
        for path in (self._new_path, self._old_path):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _write_stream(name: str, data: bytes) -> None:
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    with _name_errors(name), open(name, "wb") as file:
        file.write(data)


@contextlib.contextmanager
def _name_errors(name: str) -> Iterator[None]:
    """Add a file's name to the errors of a `with` block."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
