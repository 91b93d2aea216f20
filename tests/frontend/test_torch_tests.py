"""The command that runs what needs PyTorch fails if a test is skipped, and records counts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PASSES = (
    "import pytest\n\n@pytest.mark.torch\ndef test_one(): pass\n\ndef test_other(): assert False\n"
)
SKIPS = PASSES + "\n@pytest.mark.torch\ndef test_two(): pytest.skip('no')\n"
MISSES = "import pytest\npytest.importorskip('no_such_package')\n"


@pytest.mark.parametrize(
    "text, code, passed, skipped", [(PASSES, 0, 1, 0), (SKIPS, 1, 1, 1), (MISSES, 1, 0, 1)]
)
def test_a_skipped_test_is_a_failure(tmp_path, text, code, passed, skipped):
    (tmp_path / "test_some.py").write_text(text)
    command = [sys.executable, "tests/support/torch_tests.py", "--jobs", "0"]
    options = ["--record", tmp_path / "record.json", tmp_path / "test_some.py"]
    ran = subprocess.run(
        [*command, *map(str, options)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == code, ran.stdout
    counts = json.loads((tmp_path / "record.json").read_text())
    assert (counts["passed"], counts["failed"], counts["skipped"]) == (passed, 0, skipped)
    assert ("was skipped" in ran.stderr) == bool(skipped)
