"""Versions of the tools that turn a module into machine code: part of a cache key."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from ..bindings.mlir import PACKAGE
from .libdevice import libdevice_version
from .nvptx_choice import nvptx_for
from .package_versions import installed_version, version_of
from .ptxas import ptxas_version

#: Folders whose code determines the machine code of a module; `interop` exchanges modules before.
_FOLDERS = ("layout", "bindings", "dialect", "ir", "passes", "codegen")


@cache
def toolchain() -> tuple[str, ...]:
    """Return the versions of this package, its sources, the bindings, the LLVM that writes PTX, ptxas and
    libdevice.

    Raises:
        CompileError: if there is no ptxas, or no LLVM that writes PTX.

    Example:
        >>> toolchain()[0] == f"mlir-smem {mlir_smem.__version__}"
        True
    """
    return (
        f"mlir-smem {installed_version('mlir-smem')}",
        f"sources {sources_digest(_FOLDERS)}",
        f"{PACKAGE} {version_of(PACKAGE)}",
        f"NVPTX {nvptx_for(PACKAGE).name}",
        f"ptxas {ptxas_version()}",
        f"libdevice {libdevice_version()}",
    )


@cache
def sources_digest(folders: tuple[str, ...]) -> str:
    """Return a digest of the sources in folders of this package: changed sources do not reuse old
    code."""
    return _digest(Path(__file__).parent.parent, folders)


def _digest(root: Path, folders: tuple[str, ...]) -> str:
    digest = sha256()
    for folder in folders:
        for file in sorted((root / folder).rglob("*.py")):
            content = file.read_bytes()
            digest.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
