"""Draw variables and docstrings that a revision has under other names and words, and print both.

    python tests/support/renames.py REVISION [--seed 0] [--variables 100] [--docstrings 20]

Functions and classes of both are paired by their syntax trees without names; within a pair, the names
stand at the same places.
"""

from __future__ import annotations

import argparse
import ast
import copy
import io
import random
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Definition = ast.FunctionDef | ast.ClassDef

#: The fields of nodes that hold names.
_NAMES = {
    ast.Name: "id",
    ast.arg: "arg",
    ast.Attribute: "attr",
    ast.keyword: "arg",
    ast.FunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
}


def sources(revision: str | None) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file of code but tests, of a revision or of this tree."""
    if revision is None:
        listing = subprocess.run(
            _git("ls-files", "*.py"), capture_output=True, text=True, check=True
        )
        texts = ((file, (ROOT / file).read_text()) for file in listing.stdout.splitlines())
    else:
        archive = subprocess.run(_git("archive", revision), capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            files = [member for member in tar if member.isfile() and member.name.endswith(".py")]
            texts = [(member.name, tar.extractfile(member).read().decode()) for member in files]
    yield from (pair for pair in texts if not pair[0].startswith("tests/"))


def _git(*arguments: str) -> list[str]:
    return ["git", "-C", str(ROOT), *arguments]


def definitions(revision: str | None) -> dict[str, list[tuple[str, Definition]]]:
    """Return the functions and classes with their files, by their syntax trees without names."""
    by_shape = defaultdict(list)
    for file, text in sources(revision):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                by_shape[_shape(node)].append((file, node))
    return by_shape


def _shape(definition: Definition) -> str:
    """Return a definition without names, docstrings and annotations."""
    tree = _without_annotations(definition)
    for node in ast.walk(tree):
        if field := _NAMES.get(type(node)):
            setattr(node, field, "_")
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body[0] = ast.Pass()
    return ast.dump(tree)


def _variables(definition: Definition) -> list[str]:
    """Return the variables that a definition binds, in the order of its tree."""
    return [
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(_without_annotations(definition))
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]


def _without_annotations(definition: Definition) -> Definition:
    tree = copy.deepcopy(definition)
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if getattr(node, field, None) is not None:
                setattr(node, field, None)
    return tree


def _first_line(definition: Definition) -> str:
    return (ast.get_docstring(definition) or "").partition("\n")[0]


def _sample(draw: random.Random, rows: set, count: int) -> list:
    return draw.sample(sorted(rows), min(count, len(rows)))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--variables", type=int, default=100)
    parser.add_argument("--docstrings", type=int, default=20)
    options = parser.parse_args()
    before, after = definitions(options.revision), definitions(None)
    variables, docstrings = set(), set()
    for shape, old in before.items():
        for (_, one), (file, other) in zip(old, after.get(shape, ()), strict=False):
            where = f"{file}: {other.name}"
            for old_name, name in zip(_variables(one), _variables(other), strict=True):
                if old_name != name:
                    variables.add((where, old_name, name))
            lines = [
                (ast.get_docstring(definition) or "").partition("\n")[0]
                for definition in (one, other)
            ]
            if lines[0] != lines[1] and all(lines):
                docstrings.add((where, *lines))
    draw = random.Random(options.seed)
    print(f"{len(variables)} variables are renamed, {len(docstrings)} docstrings are rewritten")
    for where, old_name, name in draw.sample(
        sorted(variables), min(options.variables, len(variables))
    ):
        print(f"{where}: {old_name} -> {name}")
    for where, line, new_line in draw.sample(
        sorted(docstrings), min(options.docstrings, len(docstrings))
    ):
        print(f"\n{where}\n  - {line}\n  + {new_line}")


if __name__ == "__main__":
    main()
