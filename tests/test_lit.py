"""The lit suite as one test; `lit -v lit_tests/...` shows details."""

import subprocess
import sys
from pathlib import Path

SUITE = Path(__file__).parent.parent / "lit_tests"


def test_lit():
    lit = [sys.executable, "-c", "from lit.main import main; main()"]
    run = subprocess.run([*lit, "-sv", SUITE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
