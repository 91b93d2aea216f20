"""The files of layout/ stand in an order: no file is imported by what it imports, functions included."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import mlir_smem.layout

FOLDER = Path(mlir_smem.layout.__file__).parent
MODULES = {
    tuple(part for part in path.relative_to(FOLDER).with_suffix("").parts if part != "__init__"): path
    for path in FOLDER.rglob("*.py")
    if "pictures" not in path.parts
}  # fmt: skip


def imported(name, path):
    """The modules of the folder that a file imports, anywhere in its code."""
    package = name if path.name == "__init__.py" else name[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not 0 < node.level <= len(package) + 1:
            continue
        base = package[: len(package) - node.level + 1]
        base += tuple(node.module.split(".")) if node.module else ()
        for alias in node.names:
            found = (*base, alias.name)
            yield found if found in MODULES else base


def test_there_is_an_order():
    graph = {name: set(imported(name, path)) & set(MODULES) for name, path in MODULES.items()}
    assert ("arch",) in graph["wgmma", "operand"] and ("isa",) in graph["arch",]
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = " <- ".join(".".join(name) or "__init__" for name in error.args[1])
        raise AssertionError(f"a circle of imports: {circle}") from None
