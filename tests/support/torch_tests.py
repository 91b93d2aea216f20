"""Run the tests that need PyTorch (`-m torch`), all cases, and record how many passed.

python tests/support/torch_tests.py --record benchmarks/results/torch-tests.json

A test that is skipped is a failure: the record is of what is usually skipped.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.record import record  # noqa: E402


class Outcomes:
    """Counts what becomes of tests.

    Attributes:
        counts: how many passed, failed and were skipped.
        skipped: the tests and files that were skipped.
    """

    def __init__(self):
        self.counts = Counter(passed=0, failed=0, skipped=0)
        self.skipped = []

    def pytest_collectreport(self, report):
        """Count a file that is skipped whole, or cannot be read."""
        self._count(report, report.outcome != "passed")

    def pytest_runtest_logreport(self, report):
        """Count a test once; a fixture that fails or skips it, too."""
        self._count(report, report.when == "call" or report.outcome != "passed")

    def _count(self, report, counted):
        if counted:
            self.counts[report.outcome] += 1
        if report.skipped:
            self.skipped.append(report.nodeid)


def main():
    """Run the tests; return 1 if one fails or is skipped, or none runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="2", help="processes; default: 2")
    parser.add_argument("--record", help="write the record to this file")
    parser.add_argument("tests", nargs="*", help="files or folders; default: all that have any")
    options = parser.parse_args()
    tests = options.tests or ["tests/frontend", "tests/kernels", "--tier=all"]
    outcomes = Outcomes()
    settings = ["-c", str(ROOT / "pyproject.toml"), "-q", "-m", "torch", "-n", options.jobs]
    code = pytest.main([*settings, *tests], plugins=[outcomes])
    if options.record:
        record(options.record, dict(outcomes.counts))
    for name in outcomes.skipped:
        print(f"error: {name} was skipped", file=sys.stderr)
    return int(code != 0 or bool(outcomes.skipped) or not outcomes.counts["passed"])


if __name__ == "__main__":
    sys.exit(main())
