"""The house rules: who may import whom, what is packaged, and files that can be read in one sitting."""

import ast
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from each import for_each

HOUSE = Path(__file__).parent.parent

#: What the modules of a folder may import besides their own; a dotted name is that module alone, and ""
#: the package's root and all that is in it.
MAY_IMPORT = {
    "examples": ("",),
    "tools": (
        "runtime",
        "codegen",
        "passes",
        "emulator",
        "dialect",
        "advisor",
        "layout",
    ),
    "runtime": ("codegen", "emulator", "layout"),
    "codegen": ("passes", "dialect", "layout"),
    "passes": ("dialect", "layout"),
    "emulator": ("dialect.bindings", "dialect.diagnostics", "layout.descriptor"),
    "dialect": ("layout",),
    "advisor": ("layout",),
    "layout": (),
}

FOLDERS = [folder for folder in MAY_IMPORT if (HOUSE / folder).is_dir()]
FILES = sorted(
    path.relative_to(HOUSE)
    for folder in (*FOLDERS, "mlir_smem")
    for path in (HOUSE / folder).rglob("*.py")
)
TESTS = sorted(path.relative_to(HOUSE) for path in (HOUSE / "tests").rglob("*.py"))

each_file = for_each("file", FILES)


@cache
def tree(file):
    return ast.parse((HOUSE / file).read_text())


def imported(file):
    """The modules of the house that a file imports, dotted, from anywhere in its code."""
    here = [part for part in file.parent.parts if part != "mlir_smem"]
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            found = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # One dot is the package itself, each further one a folder up.
            base = ["mlir_smem", *here[: len(here) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            found = [[*base, alias.name] for alias in node.names]
        else:
            continue
        yield from (parts[1:] for parts in found if parts[0] == "mlir_smem")


def allowed(parts, permitted):
    names = (name.split(".") if name else [] for name in permitted)
    return any(parts[: len(name)] == name for name in names)


@each_file
def test_imports_only_go_down(file):
    folder = file.parts[0]
    # The package's root names what is public, and holds nothing itself.
    permitted = (folder, *MAY_IMPORT[folder]) if folder in MAY_IMPORT else FOLDERS
    wrong = [".".join(parts) for parts in imported(file) if not allowed(parts, permitted)]
    assert wrong == []


@pytest.mark.parametrize(
    "file, text, found",
    [
        ("passes/emit.py", "from ..tools import inputs", [["tools", "inputs"]]),
        ("passes/emit.py", "from .. import tools", [["tools"]]),
        (
            "passes/lower_mma/a.py",
            "from ...runtime.gpu import Kernel",
            [["runtime", "gpu", "Kernel"]],
        ),
        ("passes/emit.py", "from . import base", [["passes", "base"]]),
        ("passes/emit.py", "import mlir_smem.tools.inputs", [["tools", "inputs"]]),
        ("passes/emit.py", "from mlir_smem.tools import inputs", [["tools", "inputs"]]),
        ("passes/emit.py", "def f():\n    from mlir_smem import tools", [["tools"]]),
        ("passes/emit.py", "import mlir_smem", [[]]),
        ("passes/emit.py", "from ..examples.gemm import kernel", [["examples", "gemm", "kernel"]]),
    ],
)
def test_every_form_of_import_is_seen(file, text, found, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "tree", lambda _: ast.parse(text))
    assert list(imported(Path(file))) == found
    assert not any(
        allowed(parts, MAY_IMPORT["passes"]) for parts in found if parts[:1] != ["passes"]
    )


@pytest.mark.parametrize("module", ["mlir_smem", "mlir_smem.layout", "mlir_smem.advisor"])
def test_layouts_need_no_mlir(module):
    code = (
        f"import sys, {module}\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('mlir', 'torch_mlir', 'llvmlite')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# Packaging.

SETUPTOOLS = tomllib.loads((HOUSE / "pyproject.toml").read_text())["tool"]["setuptools"]


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
    assert (HOUSE / folder / "__init__.py").is_file()


# Reading.


@each_file
def test_every_file_says_what_it_is(file):
    # An empty `__init__.py` has nothing to say.
    assert ast.get_docstring(tree(file)) or not (HOUSE / file).read_text()


@each_file
def test_everything_public_is_documented(file):
    silent = [
        node.name
        for node in tree(file).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


@for_each("file", [*FILES, *TESTS])
def test_a_file_is_read_in_one_sitting(file):
    assert len((HOUSE / file).read_text().splitlines()) <= 400


def test_names_of_test_files_are_unique():
    names = [path.name for path in TESTS if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
