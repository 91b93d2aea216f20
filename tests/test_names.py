"""Names of variables and functions, counted in the syntax trees of all code but tests.

    python tests/test_names.py        # the worst files

A variable says what it holds, a function is a verb or the name of what it returns, and a class has a name
of its own.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = sorted(path.name for path in (ROOT / "mlir_smem").iterdir() if path.is_symlink())
FOLDERS = ("mlir_smem", *ROOMS, "benchmarks", "docs", "fuzz", "lit_tests")

#: Names of variables that say what happened to a value, or point at it, not what it is.
UNTELLING = set("at each found given held its kept made of own told what".split())  # noqa: SIM905

#: Names that fit any variable.
VAGUE = set("data info item obj res result ret tmp value".split())  # noqa: SIM905

#: Irregular participles; regular ones end in -ed.
PARTICIPLES = {
    *("again", "begun", "bound", "broken", "chosen", "done", "drawn", "found", "given", "gone"),
    *("grown", "held", "hidden", "kept", "known", "laid", "left", "made", "met", "paid", "said"),
    *("seen", "sent", "shown", "spread", "taken", "thrown", "told", "won", "worn", "written"),
}
ENDS_IN_ED = {"embed", "feed", "need", "red", "seed", "speed"}

#: Variables with an untelling name in 10,000 lines, functions that are named by a participle, and vague
#: names in 10,000 lines (68 before this test), at most.
MOST_UNTELLING, MOST_PARTICIPLES, MOST_VAGUE = 20, 30, 75


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax tree of each file."""
    files = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT): ast.parse(file.read_text()) for file in files}


def variables(tree: ast.Module) -> Iterator[str]:
    """Yield the name of each variable, parameter and field, once for each place that binds it."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name


def is_participle(name: str) -> bool:
    """Return whether a function's name is a participle alone."""
    word = name.strip("_")
    return word in PARTICIPLES or (
        word.endswith("ed") and "_" not in word and word not in ENDS_IN_ED
    )


def participles(tree: ast.Module) -> Iterator[str]:
    """Yield the names of functions that are participles."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
            yield node.name


def untelling(tree: ast.Module) -> list[str]:
    """Return the variables with an untelling name."""
    return [name for name in variables(tree) if name.strip("_") in UNTELLING]


def in_10_000_lines(count: int) -> float:
    """Return a count as one in 10,000 lines of all files."""
    lines = sum(len((ROOT / file).read_text().splitlines()) for file in trees())
    return count * 10_000 / lines


def worst(count_of) -> str:
    """Return the files with the most names, and these."""
    names = {file: Counter(count_of(tree)) for file, tree in trees().items()}
    files = sorted(names, key=lambda file: -names[file].total())[:10]
    return "\n".join(f"{file}: {dict(names[file])}" for file in files if names[file])


def test_variables_say_what_they_hold():
    count = sum(len(untelling(tree)) for tree in trees().values())
    assert in_10_000_lines(count) < MOST_UNTELLING, worst(untelling)


def test_vague_names_do_not_take_their_place():
    def vague(tree):
        return [name for name in variables(tree) if name in VAGUE]

    count = sum(len(vague(tree)) for tree in trees().values())
    assert in_10_000_lines(count) < MOST_VAGUE, worst(vague)


def test_functions_are_no_participles():
    names = [name for tree in trees().values() for name in participles(tree)]
    assert len(names) < MOST_PARTICIPLES, worst(participles)


def shared_class_names() -> dict[str, list[str]]:
    """Return the public classes of a name that several rooms have, with their files."""
    files = defaultdict(list)
    for file, tree in trees().items():
        for node in tree.body:
            if (
                isinstance(node, ast.ClassDef)
                and not node.name.startswith("_")
                and file.parts[0] in ROOMS
            ):
                files[node.name].append(str(file))
    return {name: places for name, places in sorted(files.items()) if len(places) > 1}


if __name__ == "__main__":
    for count_of in (untelling, lambda tree: list(participles(tree))):
        print(worst(count_of), end="\n\n")
    for name, places in shared_class_names().items():
        print(f"{name}: {', '.join(places)}", file=sys.stdout)
