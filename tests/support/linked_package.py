"""The package of a tree as one folder of links to the folders that `pyproject.toml` lists."""

from __future__ import annotations

import tomllib
from pathlib import Path


def linked_package(tree: Path, folder: Path) -> Path:
    """Make a folder for the import path; its `mlir_smem` links to a tree's folders, `examples` excepted.

    Args:
        tree: the repository's root, at any revision.
        folder: the path of the new folder.
    """
    package = folder / "mlir_smem"
    package.mkdir(parents=True)
    project = tomllib.loads((tree / "pyproject.toml").read_text())
    for name, path in project["tool"]["setuptools"]["package-dir"].items():
        if name not in ("mlir_smem", "mlir_smem.examples"):  # examples import what users import
            (package / name.removeprefix("mlir_smem.")).symlink_to(tree / path)
    for child in (tree / "mlir_smem").iterdir():
        (package / child.name).symlink_to(child)
    return folder
