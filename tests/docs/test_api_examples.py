"""The examples of docstrings: every public function has one, and each prints what it says."""

import sys
from pathlib import Path

import pytest
from doc_examples import ON_A_GPU, examples_of, run

FOLDER = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(FOLDER))
import api_examples  # noqa: E402

EVERYTHING = [
    (package, name)
    for package in api_examples.PACKAGES
    for name, value in api_examples.public(package).items()
    if examples_of(value)
]


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))


@pytest.mark.parametrize("package, name", EVERYTHING, ids=map(".".join, EVERYTHING))
def test_an_example_prints_what_it_says(package, name):
    examples = examples_of(api_examples.public(package)[name])
    with api_examples.names_for(package) as names:
        assert run(name, examples, names, gpu=False) == ""


def test_an_example_that_prints_something_else_fails():
    def wrong():
        """Do nothing.

        Example:
            >>> 1 + 1
            3
        """

    assert "Expected:\n    3\nGot:\n    2" in run("wrong", examples_of(wrong), {}, gpu=False)


def test_lines_that_need_a_gpu_are_left_out():
    def half(): ...

    half.__doc__ = f"Do nothing.\n\n>>> undefined  {ON_A_GPU}\n"
    assert run("half", examples_of(half), {}, gpu=False) == ""
    assert "NameError" in run("half", examples_of(half), {}, gpu=True)
