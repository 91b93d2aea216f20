"""Versions of the tools that turn a module into machine code: part of a cache key."""

from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import llvmlite

from ..dialect import bindings
from .libdevice import libdevice_version
from .ptxas import ptxas_version

#: Folders whose code determines the machine code of a module.
_FOLDERS = ("layout", "dialect", "passes", "codegen")


@cache
def toolchain() -> tuple[str, ...]:
    """Return the versions of this package, its sources, the bindings, llvmlite, ptxas and libdevice.

    Raises:
        CompileError: if there is no ptxas.

    Example:
        >>> toolchain()[0] == f"mlir-smem {mlir_smem.__version__}"
        True
    """
    return (
        f"mlir-smem {_installed('mlir-smem')}",
        f"sources {_digest(Path(__file__).parent.parent)}",
        f"{bindings.PACKAGE} {_bindings_version()}",
        f"llvmlite {llvmlite.__version__}",
        f"ptxas {ptxas_version()}",
        f"libdevice {libdevice_version()}",
    )


def _digest(root: Path) -> str:
    """Return a digest of the sources: changed sources do not reuse old code."""
    digest = sha256()
    for folder in _FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def _bindings_version() -> str:
    """Return the version of the MLIR bindings; if they are not an installed package, their build time."""
    version = _installed(bindings.PACKAGE.replace("_", "-"))
    return version or str(Path(bindings.ir.__file__).stat().st_mtime_ns)


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
