"""The tutorial with its GPU steps: the commands print what the page shows."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tutorial_on_a_gpu(tmp_path):
    pytest.importorskip("torch")
    page = (DOCS / "tutorial.md").read_text()
    renewed = tmp_path / "tutorial.md"
    renewed.write_text(page)
    subprocess.run([sys.executable, DOCS / "sessions.py", "--gpu", renewed], check=True)
    assert renewed.read_text() == page
