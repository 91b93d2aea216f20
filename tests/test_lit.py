"""Each lit test as a case; `make lit` runs them alone, and `lit -v lit_tests/...` shows details."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import lit_runner
import pytest
from lit_runner import SUITE

NAMES = sorted(
    path.relative_to(SUITE).as_posix()
    for path in SUITE.rglob("*")
    if path.suffix in (".mlir", ".test") and "Output" not in path.parts
)


@pytest.fixture(scope="module")
def runner():
    """A process that runs lit tests; it is no fork of this one."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.parametrize("name", NAMES)
def test_lit(runner, name):
    outcome, message = runner.submit(lit_runner.outcome, name).result()
    if outcome == "skipped":
        pytest.skip(message)
    assert outcome == "passed", message


def test_every_test_is_found(runner):
    assert runner.submit(lit_runner.names).result() == NAMES
