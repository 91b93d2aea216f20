"""What the front ends made of programs, kept on disk beside the compiled kernels.

A file is a pickle; it is read if a compiled kernel would be (`runtime.cache`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..codegen.versions import sources_digest
from ..runtime import cache_folder
from ..runtime.cache import read_checked, write_checked

#: Folders whose code determines what a program becomes.
_FOLDERS = (
    *("layout", "bindings", "dialect", "ir", "passes", "interop", "emulator", "codegen", "runtime"),
    *("language", "kernels", "frontend"),
)


class CachedFile:
    """A file of the cache.

    Args:
        kind: what it holds; the name's extension.
        versions: returns the versions of other packages that it depends on; not called if the cache is
            off, because reading what is installed takes up to a quarter of a second.
        parts: what else it depends on, by `repr`.
    """

    def __init__(self, kind: str, versions: Callable[[], Any], *parts: Any) -> None:
        self._kind = kind
        folder = cache_folder()
        self._path: Path | None = None
        if folder is not None:
            digest = sha256(repr((sources_digest(_FOLDERS), versions(), parts)).encode())
            self._path = folder / f"{digest.hexdigest()}.{kind}"

    def read(self) -> Any:
        """Return what was written; None if nothing was, or the cache is off."""
        content = None if self._path is None else read_checked(self._path)
        return None if content is None else pickle.loads(content)

    def write(self, data: Any) -> None:
        """Write data, if the cache is on and the data can be pickled."""
        if self._path is None:
            return
        try:
            content = pickle.dumps(data)
        except (pickle.PicklingError, TypeError, AttributeError):
            return
        write_checked(self._path, content, f"the {self._kind}")
