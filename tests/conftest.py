"""Settings of all tests."""

import os
import signal
from collections import Counter

import pytest
import stand_in
from hypothesis import settings

# A developer runs the tests often, with different examples each time; `.ci/run` runs them once.
settings.register_profile("dev", deadline=None, max_examples=20)
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# A shell starts background jobs with SIGINT ignored, and processes that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--record", metavar="FILE", help="write the results of GPU tests to FILE")
    parser.addoption(
        "--every-form",
        action="store_true",
        help="assemble every kernel of the GPU tests, not only one of each form",
    )
    parser.addoption(
        "--every-case",
        action="store_true",
        help="run every case of tests that usually run a sample; also with CI set",
    )
    parser.addoption(
        "--sample",
        metavar="N",
        type=int,
        default=1,
        help="run the first test of each file, and every N-th after it",
    )


def pytest_collection_modifyitems(config, items):
    """Keep only every n-th case of tests marked `sampled(n)`, and of each file what --sample asks for."""
    every = config.getoption("--sample")
    if not config.getoption("--every-case") and (every > 1 or not os.environ.get("CI")):
        _keep_every_nth_case(config, items)
    if every < 1:
        raise pytest.UsageError(f"--sample is {every}; expected 1 or more")
    seen, kept, skipped = Counter(), [], []
    for item in items:
        (skipped if seen[item.path] % every else kept).append(item)
        seen[item.path] += 1
    config.hook.pytest_deselected(items=skipped)
    items[:] = kept


def _keep_every_nth_case(config, items):
    seen, kept, skipped = Counter(), [], []
    for item in items:
        marker = item.get_closest_marker("sampled")
        test = item.nodeid.split("[")[0]
        (skipped if marker and seen[test] % marker.args[0] else kept).append(item)
        seen[test] += 1
    config.hook.pytest_deselected(items=skipped)
    items[:] = kept


@pytest.fixture
def gpu(monkeypatch):
    """A stand-in for a GPU; it records calls, and fails where a test says so."""
    return stand_in.install(monkeypatch)
