"""Kernels and programs to read, to run and to copy.

mlir_smem.examples.path("matmul.mlir")     # where the installed file is
python -m mlir_smem.examples FOLDER        # copy all of them to a folder
"""

import shutil
from pathlib import Path

__all__ = ["copy", "names", "path"]

_FOLDER = Path(__file__).parent
#: Files of this package that are no examples.
_OWN = ("__init__.py", "__main__.py")


def __dir__() -> list[str]:
    return __all__


def names() -> list[str]:
    """Return the names of the examples: paths within this package, sorted.

    Returns:
        Names such as `matmul.mlir`.

    Example:
        >>> "matmul.mlir" in mlir_smem.examples.names()
        True
    """
    files = (file for suffix in ("mlir", "py") for file in _FOLDER.rglob(f"*.{suffix}"))
    paths = (file.relative_to(_FOLDER).as_posix() for file in files)
    return sorted(name for name in paths if name not in _OWN)


def path(name: str) -> Path:
    """Return the path of an example's file.

    Args:
        name: one of `names()`.

    Raises:
        ValueError: if there is no such example; the message lists them.

    Example:
        >>> print(mlir_smem.examples.path("mma.mlir").read_text().splitlines()[0])
        // One warpgroup computes D = A * B, 64x64x64, on an H100 or H200.
    """
    if name not in names():
        raise ValueError(f"there is no example {name!r}; there are {', '.join(names())}")
    return _FOLDER / name


def copy(folder: Path | str) -> list[Path]:
    """Copy every example to a folder, which is made if it is missing.

    Args:
        folder: where the files go; a file of the same name there is overwritten.

    Returns:
        The paths of the copies.

    Raises:
        OSError: if a file cannot be written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     copies = mlir_smem.examples.copy(folder)
        >>> "build_matmul.py" in {copy.name for copy in copies}
        True
    """
    copies = []
    for name in names():
        to = Path(folder, name)
        to.parent.mkdir(parents=True, exist_ok=True)
        copies.append(shutil.copyfile(_FOLDER / name, to))
    return copies
