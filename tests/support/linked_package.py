"""The package of a source tree as one folder; only an editable install maps the tree's folders."""

from __future__ import annotations

import tomllib
from pathlib import Path


def linked_package(tree: Path, folder: Path) -> Path:
    """Make a folder for the import path whose `mlir_smem` has links to the folders of a tree.

    Args:
        tree: the repository's root, of any revision.
        folder: the folder to make.
    """
    home = folder / "mlir_smem"
    home.mkdir(parents=True)
    project = tomllib.loads((tree / "pyproject.toml").read_text())
    for name, place in project["tool"]["setuptools"]["package-dir"].items():
        if name != "mlir_smem":
            (home / name.removeprefix("mlir_smem.")).symlink_to(tree / place)
    for child in (tree / "mlir_smem").iterdir():
        (home / child.name).symlink_to(child)
    return folder
