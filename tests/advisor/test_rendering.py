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
    for answer_class in base.__subclasses__():
        if answer_class.__module__.startswith("mlir_smem."):
            yield answer_class
            yield from answers(answer_class)


@pytest.mark.parametrize(
    "answer_class", sorted(answers(), key=str), ids=lambda answer_class: answer_class.__name__
)
def test_an_answer_does_not_override_its_renderings(answer_class):
    assert not {"__str__", "_repr_html_", "data"} & set(vars(answer_class))


@pytest.mark.parametrize("rendering", [data, text, html], ids=lambda rendering: rendering.__name__)
def test_a_rendering_is_in_the_module_of_the_same_name(rendering):
    def last(cls):
        return cls.__module__.rpartition(".")[2]

    package = "mlir_smem.advisor.rendering."
    functions = {
        answer_class: function
        for answer_class, function in rendering.registry.items()
        if answer_class.__module__.startswith("mlir_smem.advisor.")
    }
    assert len(functions) > 5
    assert {answer_class: function.__module__ for answer_class, function in functions.items()} == {
        answer_class: package + last(answer_class) for answer_class in functions
    }
