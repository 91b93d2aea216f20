"""Runs lit tests for `tests/test_lit.py`, in a process of its own.

lit forks, and a fork of a pytest worker, which has imported much and holds all cases, takes three times
as long as one of a small process.
"""

import os
from functools import cache
from pathlib import Path
from unittest import SkipTest

from lit.LitTestCase import LitTestCase, load_test_suite

SUITE = Path(__file__).parents[2] / "lit_tests"


@cache
def suite() -> dict[str, LitTestCase]:
    """Return the tests as lit finds them, by their paths in the suite."""
    prefix = "mlir-smem :: "
    return {test.id().removeprefix(prefix): test for test in load_test_suite([os.fspath(SUITE)])}


def names() -> list[str]:
    """Return the paths of the tests."""
    return sorted(suite())


def outcome(name: str) -> tuple[str, str]:
    """Run a test; return "passed", "failed" or "skipped", and its message."""
    try:
        suite()[name].runTest()
    except SkipTest as reason:
        return "skipped", str(reason)
    except AssertionError as error:
        return "failed", str(error)
    return "passed", ""
