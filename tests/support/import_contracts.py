"""Check imports between packages: the contracts of import-linter in pyproject.toml.

    python tests/support/import_contracts.py

`make lint` runs it. `lint-imports` itself looks for the package in one folder; with an editable install,
that folder has only `mlir_smem/__init__.py`.
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
    """Print each contract and the imports that violate it; return 1 if one is violated, else 0."""
    with tempfile.TemporaryDirectory() as folder:
        path = linked_package(ROOT, Path(folder, "path"))
        # The linter searches the current folder for packages first.
        with chdir(path):
            config = os.fspath(ROOT / "pyproject.toml")
            return lint_imports(config_filename=config, no_cache=True, no_logo=True)


if __name__ == "__main__":
    sys.exit(main())
