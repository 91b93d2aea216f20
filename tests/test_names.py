"""Names of variables and functions, counted in the syntax trees of all code.

    python tests/test_names.py        # the worst files

A variable says what it holds, a function is a verb or the name of what it returns, and a class has a name
of its own.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = sorted(path.name for path in (ROOT / "mlir_smem").iterdir() if path.is_symlink())
FOLDERS = ("mlir_smem", *ROOMS, "benchmarks", "docs", "fuzz", "lit_tests", "tests")

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
#: names in 10,000 lines (57 before this test), at most.
MOST_UNTELLING, MOST_PARTICIPLES, MOST_VAGUE = 5, 30, 60

#: Classes of two rooms with one name: public ones, the hardware's terms, and protocols of MLIR's classes.
SHARED = {"Access", "Config", "Fragment", "Kernel", "Op", "Problem", "TensorMap", "ViewOp"}


class Names(NamedTuple):
    """The names that a file binds, once for each place.

    Attributes:
        lines: the number of its lines.
        variables: of variables, parameters and fields.
        functions: of functions.
        classes: of public classes at the top.
    """

    lines: int
    variables: list[str]
    functions: list[str]
    classes: list[str]


@cache
def files() -> dict[Path, Names]:
    """Return the names of each file."""
    paths = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT): names_of(file.read_text()) for file in paths}


def names_of(text: str) -> Names:
    """Return the names that a file binds."""
    tree = ast.parse(text)
    variables, functions = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            variables.append(node.id)
        elif isinstance(node, ast.arg):
            variables.append(node.arg)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            variables.append(node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(node.name)
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    public = [name for name in classes if not name.startswith("_")]
    return Names(text.count("\n"), variables, functions, public)


def untelling(names: Names) -> list[str]:
    """Return the variables with an untelling name."""
    return [name for name in names.variables if name.strip("_") in UNTELLING]


def vague(names: Names) -> list[str]:
    """Return the variables with a vague name."""
    return [name for name in names.variables if name in VAGUE]


def participles(names: Names) -> list[str]:
    """Return the functions whose name is a participle alone."""
    return [name for name in names.functions if is_participle(name.strip("_"))]


def is_participle(word: str) -> bool:
    """Return whether a word is a participle."""
    regular = word.endswith("ed") and "_" not in word and word not in ENDS_IN_ED
    return regular or word in PARTICIPLES


def shared_class_names() -> dict[str, list[str]]:
    """Return the names that public classes of several files of the package have, with these files."""
    places = defaultdict(list)
    for file, names in files().items():
        for name in names.classes if file.parts[0] in ROOMS else ():
            places[name].append(str(file))
    return {name: those for name, those in sorted(places.items()) if len(those) > 1}


def worst(chosen: Callable[[Names], list[str]]) -> str:
    """Return the files with the most names of a kind, and these names."""
    counts = {file: Counter(chosen(names)) for file, names in files().items()}
    most = sorted(counts, key=lambda file: -counts[file].total())[:10]
    return "\n".join(f"{file}: {dict(counts[file])}" for file in most if counts[file])


def test_names_say_what_they_name():
    lines = sum(names.lines for names in files().values())
    for chosen, most in ((untelling, MOST_UNTELLING), (vague, MOST_VAGUE)):
        count = sum(len(chosen(names)) for names in files().values())
        assert count * 10_000 / lines < most, worst(chosen)
    assert sum(len(participles(names)) for names in files().values()) < MOST_PARTICIPLES, worst(
        participles
    )
    assert set(shared_class_names()) <= SHARED


if __name__ == "__main__":
    for kind in (untelling, participles):
        print(worst(kind), end="\n\n")
    for name, places in shared_class_names().items():
        print(f"{name}: {', '.join(places)}")
