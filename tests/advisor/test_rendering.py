"""The rendering packages: the renderings of answers are separate from their facts."""

import importlib
import pkgutil

import pytest

from mlir_smem import advisor
from mlir_smem.advisor.answer import Answer, data, html, text

for module in pkgutil.walk_packages(advisor.__path__, f"{advisor.__name__}."):
    importlib.import_module(module.name)


def answers(base=Answer):
    """Yield every answer class of the package."""
    for kind in base.__subclasses__():
        if kind.__module__.startswith("mlir_smem."):
            yield kind
            yield from answers(kind)


@pytest.mark.parametrize("kind", sorted(answers(), key=str), ids=lambda kind: kind.__name__)
def test_an_answer_does_not_override_its_renderings(kind):
    assert not {"__str__", "_repr_html_", "data"} & set(vars(kind))


@pytest.mark.parametrize("rendering", [data, text, html], ids=lambda rendering: rendering.__name__)
def test_a_rendering_is_in_the_module_of_the_same_name(rendering):
    def last(of):
        return of.__module__.rpartition(".")[2]

    package = f"mlir_smem.advisor.rendering.{rendering.__name__}."
    found = {
        kind: function
        for kind, function in rendering.registry.items()
        if kind.__module__.startswith("mlir_smem.advisor.")
    }
    assert len(found) > 5
    assert {kind: function.__module__ for kind, function in found.items()} == {
        kind: package + last(kind) for kind in found
    }
