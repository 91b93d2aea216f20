"""Rules of the repository: packages, docstrings, names of tests.

Rules for imports are in pyproject.toml; `make lint` checks them.
"""

import ast
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


def test_every_folder_of_code_is_linked_from_the_package():
    links = {
        path.name: path.readlink() for path in (ROOT / "mlir_smem").iterdir() if path.is_symlink()
    }
    assert links == {folder: Path("..", folder) for folder in FOLDERS}


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=str)
def test_every_package_has_an_init(folder):
    assert (ROOT / folder / "__init__.py").is_file()


# Docstrings.


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
        and not any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list)
        and not ast.get_docstring(node)
    ]
    assert undocumented == []


def test_names_of_test_files_are_unique():
    names = [path.name for path in TESTS if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
