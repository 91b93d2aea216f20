"""Each lit test as a case; `make lit` runs them alone, and `lit -v lit_tests/...` shows details."""

from pathlib import Path

import pytest
from lit.LitTestCase import load_test_suite

SUITE = Path(__file__).parent.parent / "lit_tests"
NAMES = sorted(
    path.relative_to(SUITE).as_posix()
    for path in SUITE.rglob("*")
    if path.suffix in (".mlir", ".test") and "Output" not in path.parts
)


@pytest.fixture(scope="module")
def suite():
    """The tests as lit finds them, by their paths in the suite."""
    prefix = "mlir-smem :: "
    return {test.id().removeprefix(prefix): test for test in load_test_suite([str(SUITE)])}


@pytest.mark.parametrize("name", NAMES)
def test_lit(suite, name):
    suite[name].runTest()


def test_every_test_is_found(suite):
    assert sorted(suite) == NAMES
