"""Each lit test as a case; `make lit` runs them alone, and `lit -v lit_tests/...` shows details."""

import json
import subprocess
import sys

import lit_runner
import pytest
from lit_runner import SUITE

NAMES = sorted(
    path.relative_to(SUITE).as_posix()
    for path in SUITE.rglob("*")
    if path.suffix in (".mlir", ".test") and "Output" not in path.parts
)


class Runner:
    """The process that runs lit tests.

    Attributes:
        names: the tests that lit finds.
    """

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, lit_runner.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names = json.loads(self._process.stdout.readline())

    def run(self, name):
        """Return the outcome of a test, and its message."""
        print(name, file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def end(self):
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(60) == 0


@pytest.fixture(scope="module")
def runner():
    runner = Runner()
    yield runner
    runner.end()


@pytest.mark.parametrize("name", NAMES)
def test_lit(runner, name):
    outcome, message = runner.run(name)
    if outcome == "skipped":
        pytest.skip(message)
    assert outcome == "passed", message


def test_every_test_is_found(runner):
    assert runner.names == NAMES
