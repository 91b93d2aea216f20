"""Reduced inputs that failed once do not fail again."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from fuzz.__main__ import NAMES, NEEDS

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "fuzz" / "corpus"


@cache
def outcomes(name):
    """Return the outcome of each input of a fuzzer, by its file."""
    files = sorted((CORPUS / name).iterdir())
    command = [sys.executable, "-m", f"fuzz.{name}", "--replay", *files]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    starts = "|".join(re.escape(f"{file}: ") for file in files)
    return dict(re.findall(rf"^({starts})(.*(?:\n .*)*)$", run.stderr, re.MULTILINE))


@pytest.mark.parametrize(
    "file", sorted(CORPUS.glob("*/*")), ids=lambda file: f"{file.parent.name}/{file.stem}"
)
def test_input_does_not_fail(file):
    if file.parent.name in NEEDS:
        pytest.importorskip(NEEDS[file.parent.name], exc_type=ImportError)
    assert outcomes(file.parent.name)[f"{file}: "] == "no failure"


def test_every_fuzzer_has_inputs():
    assert sorted(folder.name for folder in CORPUS.iterdir()) == sorted(NAMES)
    assert {file.stem for file in (ROOT / "fuzz").glob("*.py") if "FUZZER" in file.read_text()} == {
        *NAMES
    }
