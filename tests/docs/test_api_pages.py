"""docs/api: every public name is on its page, and has a docstring that says what a user must know."""

import ast
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from doc_examples import examples_of

from mlir_smem.dialect.smem import Smem

FOLDER = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(FOLDER))
import api_examples  # noqa: E402

OPS = {op.__name__: op.OPERATION_NAME for op in Smem.operations}
FENCE = re.compile(r"^```\{eval-rst\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The names on docs/api/language.md, which is generated: headings, and a table of element types.
LANGUAGE = re.compile(r"^(?:###|\|) `sl\.(\w+)`", re.MULTILINE)
DIRECTIVE = re.compile(r"^\.\. (?:(currentmodule)|auto\w+|py:\w+):: (\S+)$", re.MULTILINE)

PUBLIC = [
    (package, name)
    for package in api_examples.PACKAGES
    for name in import_module(package).__all__
    if not (package == "mlir_smem.dialect.ops" and name in OPS)
]
FUNCTIONS = [
    (package, name)
    for package, name in PUBLIC
    if inspect.isroutine(getattr(import_module(package), name))
]
CLASSES = [
    (package, name)
    for package, name in PUBLIC
    if inspect.isclass(getattr(import_module(package), name))
]


def names_on_page(page):
    """Return the (package, name) of each directive of a page, and of each entry of the language's."""
    text = (FOLDER / "api" / f"{page}.md").read_text()
    names, package = [("mlir_smem.language", name) for name in LANGUAGE.findall(text)], None
    for fence in FENCE.findall(text):
        for is_package, name in DIRECTIVE.findall(fence):
            if is_package:
                package = name
            else:
                names.append((package, name))
    return names


def raises(function):
    """Whether a function itself raises an exception, outside of a `try`."""
    (tree,) = ast.parse(inspect.getsource(inspect.unwrap(function))).body
    caught = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        for inner in ast.walk(node)
    }
    return any(isinstance(node, ast.Raise) and id(node) not in caught for node in ast.walk(tree))


def public(package, name):
    return getattr(import_module(package), name)


@pytest.mark.parametrize("package, page", api_examples.PACKAGES.items())
def test_a_page_has_the_public_names_of_its_packages(package, page):
    names = [name for owner, name in names_on_page(page) if owner == package]
    assert sorted(names) == sorted(name for owner, name in PUBLIC if owner == package)


def test_every_package_with_public_names_has_a_page():
    """The packages beside these are inner ones: what they have is reached through those above."""
    root = import_module("mlir_smem")
    assert set(api_examples.PACKAGES) - {"mlir_smem"} >= {
        f"mlir_smem.{folder}"
        for folder in root.__dir__()
        if folder not in (*root.__all__, "bindings", "ir", "tools", "kernels")
    }


@pytest.mark.parametrize("package", api_examples.PACKAGES)
def test_dir_shows_the_public_names(package):
    module = import_module(package)
    folders = set(getattr(module, "_FOLDERS", ()))
    assert set(dir(module)) - folders == set(module.__all__)


def test_classes_of_ops_are_in_the_reference():
    page = (FOLDER / "reference.md").read_text()
    exported = set(import_module("mlir_smem.dialect.ops").__all__) & set(OPS)
    assert exported <= set(OPS)
    assert [name for name in exported if f"#### `{OPS[name]}`\n" not in page] == []


@pytest.mark.parametrize("package, name", FUNCTIONS, ids=map(".".join, FUNCTIONS))
def test_a_function_is_documented(package, name):
    function = public(package, name)
    text = inspect.getdoc(function) or ""
    assert text.splitlines()[0].strip(), "a docstring has a first line"
    assert examples_of(function), "an example"
    if raises(function):
        assert "Raises:" in text
    described = text.partition("Example:")[0]
    signature = inspect.signature(function)
    arguments = list(signature.parameters)
    assert "Args:" in text or len(arguments) < 3
    assert [
        argument for argument in arguments if not re.search(rf"\b{argument}\b", described)
    ] == []
    if signature.return_annotation not in (None, "None"):
        first = described.partition("\n\n")[0]
        assert "Returns:" in text or re.search(r"\breturn\b|Return|Enter|: ", first)


@pytest.mark.parametrize("package, name", CLASSES, ids=map(".".join, CLASSES))
def test_a_class_is_documented(package, name):
    """A class has an example, or what returns, raises or holds it is public, too."""
    value = public(package, name)
    text = inspect.getdoc(value) or ""
    assert text.splitlines()[0].strip()
    if package != "mlir_smem.dialect.ops":
        assert examples_of(value) or name in shown_elsewhere()


def shown_elsewhere():
    """Return the words of signatures and docstrings of functions, and of the fields of classes."""
    functions = [public(*entry) for entry in FUNCTIONS]
    texts = [f"{inspect.signature(function)} {inspect.getdoc(function)}" for function in functions]
    fields = [vars(public(*entry)).get("__annotations__", {}) for entry in CLASSES]
    return set(re.findall(r"\w+", " ".join([*texts, *map(str, fields)])))
