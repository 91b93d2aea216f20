"""Settings that every test shares."""

import os
from collections import Counter

import pytest
import stand_in
from hypothesis import settings

# On a machine of one's own many runs add up; `.ci/run` has only one.
settings.register_profile("dev", deadline=None, max_examples=20)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_addoption(parser):
    parser.addoption("--record", metavar="FILE", help="write the results of GPU tests to FILE")
    parser.addoption(
        "--every-form",
        action="store_true",
        help="assemble every kernel that the chip is tested with, not only one of each form",
    )
    parser.addoption(
        "--every-case",
        action="store_true",
        help="run every case of tests that otherwise run a sample, as they do where CI is set",
    )


def pytest_collection_modifyitems(config, items):
    """Leaves all but every n-th case of tests marked `sampled(n)` out."""
    if config.getoption("--every-case") or os.environ.get("CI"):
        return
    seen, kept, left = Counter(), [], []
    for item in items:
        marker = item.get_closest_marker("sampled")
        test = item.nodeid.split("[")[0]
        (left if marker and seen[test] % marker.args[0] else kept).append(item)
        seen[test] += 1
    config.hook.pytest_deselected(items=left)
    items[:] = kept


@pytest.fixture
def gpu(monkeypatch):
    """A stand-in for a GPU; what it was asked for, and what it shall refuse."""
    return stand_in.install(monkeypatch)
