"""The rooms of the advisor: how answers are said is apart from what they hold."""

import importlib
import pkgutil

import pytest

from mlir_smem import advisor
from mlir_smem.advisor.answer import Answer, data, html, text

for module in pkgutil.walk_packages(advisor.__path__, f"{advisor.__name__}."):
    importlib.import_module(module.name)


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
