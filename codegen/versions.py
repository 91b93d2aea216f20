"""What the machine code of a module depends on besides its text."""

from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import llvmlite

from ..dialect import bindings
from .libdevice import libdevice_version
from .ptxas import ptxas_version

#: Folders whose code decides what a module becomes.
_FOLDERS = ("layout", "dialect", "passes", "codegen")


@cache
def toolchain() -> tuple[str, ...]:
    """This package's version and sources, and those of the bindings, llvmlite, ptxas and libdevice.

    Raises:
        CompileError: if there is no ptxas.
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
    """A digest of the sources, so that who changes them gets no code of before."""
    made = sha256()
    for folder in _FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            content = file.read_bytes()
            made.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode())
            made.update(content)
    return made.hexdigest()


def _bindings_version() -> str:
    """The version of the MLIR bindings; where they are no installed package, when they were built."""
    version = _installed(bindings.PACKAGE.replace("_", "-"))
    return version or str(Path(bindings.ir.__file__).stat().st_mtime_ns)


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
