"""Checks who imports whom: the contracts of import-linter in pyproject.toml.

    python tests/support/import_contracts.py

`make lint` runs it. `lint-imports` itself looks for the package in one folder, and finds only the front
door in that of an editable install.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from importlinter.cli import lint_imports
from linked_package import linked_package

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Prints each contract and what breaks it; 1 if one is broken."""
    with tempfile.TemporaryDirectory() as folder:
        path = linked_package(ROOT, Path(folder, "path"))
        # The linter looks for packages in the current folder first.
        with chdir(path):
            config = os.fspath(ROOT / "pyproject.toml")
            return lint_imports(config_filename=config, no_cache=True, no_logo=True)


if __name__ == "__main__":
    sys.exit(main())
