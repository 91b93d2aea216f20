"""Programs of JAX, in processes of their own: JAX starts threads, and other tests fork their process."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CASES = sorted(Path(__file__).parent.glob("*_cases.py"))


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.parametrize("file", CASES, ids=[file.stem for file in CASES])
def test_all_cases_pass(file):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", str(file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    # Not one case is skipped.
    assert "skipped" not in run.stdout
