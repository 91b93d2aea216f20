"""Running the examples (`>>>`) of docstrings."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

#: The comment of lines that need a GPU.
ON_A_GPU = "# on a GPU"

_PARSER = doctest.DocTestParser()


def examples_of(thing: Any) -> list[doctest.Example]:
    """Return the examples in the docstring of a function or a class."""
    return _PARSER.get_examples(inspect.getdoc(thing) or "")


def run(name: str, examples: list[doctest.Example], names: dict[str, Any], gpu: bool) -> str:
    """Run examples; return what differs from their outputs, empty if nothing does.

    Args:
        name: their name in the report.
        examples: the lines with their outputs.
        names: what they may use.
        gpu: whether lines with `# on a GPU` are run.
    """
    chosen = [example for example in examples if gpu or ON_A_GPU not in example.source]
    test = doctest.DocTest(chosen, dict(names), name, None, None, None)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    return "".join(report)
