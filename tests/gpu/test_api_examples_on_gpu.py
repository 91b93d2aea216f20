"""The examples of docstrings with lines that need a GPU."""

import sys
from pathlib import Path

import pytest
from doc_examples import ON_A_GPU, examples_of, run

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
import api_examples

pytest.importorskip("torch")

HERE = [
    (package, name)
    for package in api_examples.PACKAGES
    for name, value in api_examples.public(package).items()
    if any(ON_A_GPU in example.source for example in examples_of(value))
]


@pytest.mark.parametrize("package, name", HERE, ids=map(".".join, HERE))
def test_an_example_prints_what_it_says(package, name, monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    examples = examples_of(api_examples.public(package)[name])
    with api_examples.names_for(package) as names:
        assert run(name, examples, names, gpu=True) == ""
