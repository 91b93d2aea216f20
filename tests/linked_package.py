"""The package of a tree as one folder, which the editable install alone makes of the tree's folders."""

from __future__ import annotations

from pathlib import Path


def linked_package(tree: Path, folder: Path) -> Path:
    """A folder for the import path whose `mlir_smem` has links to the folders of a tree.

    Args:
        tree: the repository's root, of any revision.
        folder: where to make it; it is made, too.
    """
    home = folder / "mlir_smem"
    home.mkdir(parents=True)
    for child in tree.iterdir():
        if child.is_dir() and (child / "__init__.py").exists() and child.name != "mlir_smem":
            (home / child.name).symlink_to(child)
    for child in (tree / "mlir_smem").iterdir():
        (home / child.name).symlink_to(child)
    return folder
