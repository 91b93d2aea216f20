"""Inputs that failed once, each made small, are handled as they must be."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from fuzz.__main__ import NAMES

HOUSE = Path(__file__).parents[2]
CORPUS = HOUSE / "fuzz" / "corpus"


@cache
def told(name):
    """What is told of each input of a fuzzer, by its file."""
    files = sorted((CORPUS / name).iterdir())
    command = [sys.executable, "-m", f"fuzz.{name}", "--replay", *files]
    run = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    starts = "|".join(re.escape(f"{file}: ") for file in files)
    return dict(re.findall(rf"^({starts})(.*(?:\n .*)*)$", run.stderr, re.MULTILINE))


@pytest.mark.parametrize(
    "file", sorted(CORPUS.glob("*/*")), ids=lambda file: f"{file.parent.name}/{file.stem}"
)
def test_it_is_handled(file):
    assert told(file.parent.name)[f"{file}: "] == "as it should be"


def test_every_fuzzer_has_inputs():
    assert sorted(folder.name for folder in CORPUS.iterdir()) == sorted(NAMES)
    assert {
        file.stem for file in (HOUSE / "fuzz").glob("*.py") if "FUZZER" in file.read_text()
    } == {*NAMES}
