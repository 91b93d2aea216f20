"""Rules of the repository: packages, docstrings, and the length of files.

Rules for imports are in pyproject.toml; `import_contracts.py` checks them.
"""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest
from each import for_each

ROOT = Path(__file__).parent.parent

#: The folders whose code is packaged, each as `mlir_smem.<folder>`.
FOLDERS = sorted({path.parent.name for path in ROOT.glob("*/__init__.py")} - {"mlir_smem", "fuzz"})
FILES = sorted(
    path.relative_to(ROOT)
    for folder in (*FOLDERS, "mlir_smem")
    for path in (ROOT / folder).rglob("*.py")
    if folder != "examples" or path.parent.name == "examples"  # its subfolders are data
)
FUZZERS = sorted(path.relative_to(ROOT) for path in (ROOT / "fuzz").rglob("*.py"))
TESTS = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py"))

each_file = for_each("file", [*FILES, *FUZZERS])


@cache
def tree(file):
    return ast.parse((ROOT / file).read_text())


# Packaging.

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def test_every_folder_of_code_is_packaged():
    folders = {file.parent.parts for file in FILES}
    packages = {
        ".".join(("mlir_smem", *(p for p in parts if p != "mlir_smem"))) for parts in folders
    }
    assert set(SETUPTOOLS["packages"]) == packages


def test_every_package_is_mapped_to_its_folder():
    assert SETUPTOOLS["package-dir"] == {
        "mlir_smem": "mlir_smem",
        **{f"mlir_smem.{folder}": folder for folder in FOLDERS},
    }


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=str)
def test_every_package_has_an_init(folder):
    assert (ROOT / folder / "__init__.py").is_file()


# Docstrings and length.


@each_file
def test_every_file_has_a_docstring(file):
    # An empty `__init__.py` needs none.
    assert ast.get_docstring(tree(file)) or not (ROOT / file).read_text()


@each_file
def test_public_definitions_have_docstrings(file):
    undocumented = [
        node.name
        for node in tree(file).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not any(ast.unparse(each) == "overload" for each in node.decorator_list)
        and not ast.get_docstring(node)
    ]
    assert undocumented == []


@for_each("file", [*FILES, *FUZZERS, *TESTS])
def test_files_have_at_most_400_lines(file):
    assert len((ROOT / file).read_text().splitlines()) <= 400


def test_names_of_test_files_are_unique():
    names = [path.name for path in TESTS if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
