"""The rooms of the advisor: what computes answers knows no rendering, and no import runs in a circle."""

import ast
import importlib
from functools import cache

import pytest
from test_house import FILES, imported, tree

from mlir_smem.advisor.answer import Answer, data, html, text

MODULES = {
    ".".join(file.with_suffix("").parts).removesuffix(".__init__"): file
    for file in FILES
    if file.parts[0] == "advisor"
}


@cache
def imports(name):
    """The modules of the advisor that a module imports, from anywhere in its code."""
    found = set()
    for parts in imported(MODULES[name]):
        heads = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
        found.update(next(([head] for head in heads if head in MODULES), []))
    return found - {name}


def reached(name):
    """All that is imported, directly or not."""
    found, ahead = set(), [name]
    while ahead:
        new = imports(ahead.pop()) - found
        found |= new
        ahead += new
    return found


@pytest.mark.parametrize("name", MODULES)
def test_no_import_runs_in_a_circle(name):
    assert name not in reached(name)


@pytest.mark.parametrize("name", [name for name in MODULES if name != "advisor"])
def test_no_import_waits_in_a_function_or_for_a_type_checker(name):
    top = tree(MODULES[name]).body
    of_house = [node for node in ast.walk(tree(MODULES[name])) if getattr(node, "level", 0)]
    assert [node for node in of_house if node not in top] == []


@pytest.mark.parametrize(
    "name", [name for name in MODULES if name != "advisor" and ".rendering" not in name]
)
def test_what_computes_answers_knows_no_rendering(name):
    assert [other for other in reached(name) if ".rendering" in other] == []


for name in MODULES:
    importlib.import_module(f"mlir_smem.{name}")


def answers(base=Answer):
    """Every class of answers of the package."""
    for kind in base.__subclasses__():
        if kind.__module__.startswith("mlir_smem."):
            yield kind
            yield from answers(kind)


@pytest.mark.parametrize("kind", sorted(answers(), key=str), ids=lambda kind: kind.__name__)
def test_an_answer_has_no_words_of_its_own(kind):
    assert not {"__str__", "_repr_html_", "data"} & set(vars(kind))


@pytest.mark.parametrize("say", [data, text, html], ids=lambda say: say.__name__)
def test_an_answer_is_said_by_the_namesake_of_its_module(say):
    def last(of):
        return of.__module__.rpartition(".")[2]

    room = f"mlir_smem.advisor.rendering.{say.__name__}."
    found = {
        kind: how
        for kind, how in say.registry.items()
        if kind.__module__.startswith("mlir_smem.advisor.")
    }
    assert len(found) > 5
    assert {kind: how.__module__ for kind, how in found.items()} == {
        kind: room + last(kind) for kind in found
    }
