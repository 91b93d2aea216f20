"""Settings of all tests: the tiers, and the options that choose among cases."""

import gc
import os
import signal
import sys
from collections import Counter
from pathlib import Path

# The emulator's products are small: BLAS's threads would wait for each other, and double the CPU seconds.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
import stand_in
import tiers
from case_seconds import CaseSeconds
from hypothesis import settings

# A developer runs the tests often, with different examples each time; `make test-all` runs them once.
settings.register_profile("default", deadline=None, max_examples=20)
settings.register_profile("all", deadline=None, max_examples=20, derandomize=True, database=None)

# Without bytecode, each file of tests and each command that tests start would be compiled anew.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / "build" / "pycache")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or it was -B

# A shell starts background jobs with SIGINT ignored, and processes that tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--tier",
        choices=tiers.TIERS,
        default="default",
        help="the cases that run: a few that notice most mistakes, those that are not slow, or all",
    )
    parser.addoption("--seconds", metavar="FILE", help="write the CPU seconds of each case to FILE")
    parser.addoption(
        "--record-slow", action="store_true", help="write the table of slow cases (make slow)"
    )
    parser.addoption(
        "--check-slow",
        action="store_true",
        help="fail if a case that the table does not name is slow in two runs",
    )
    parser.addoption("--record", metavar="FILE", help="write the results of GPU tests to FILE")
    parser.addoption(
        "--every-form",
        action="store_true",
        help="assemble every kernel of the GPU tests, not only one of each form",
    )
    parser.addoption(
        "--sample",
        metavar="N",
        type=int,
        default=1,
        help="run the first test of each file, and every N-th after it",
    )


def pytest_configure(config):
    tier = config.getoption("--tier")
    settings.load_profile("all" if tier == "all" else "default")
    if any(config.getoption(option) for option in ("--seconds", "--record-slow", "--check-slow")):
        config.pluginmanager.register(CaseSeconds(config))


def pytest_collection_finish():
    """Collect garbage less often: modules that are decoded and cases that wait are no garbage."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_ignore_collect(collection_path, config):
    """Do not read files without a case of the smoke tier: reading all takes longer than the tier."""
    if config.getoption("--tier") != "smoke" or collection_path.suffix != ".py":
        return None
    files = {case.partition("::")[0] for case in tiers.smoke_cases()}
    return collection_path.relative_to(config.rootpath).as_posix() not in files or None


def pytest_collection_modifyitems(config, items):
    """Keep the cases of the tier, and of each file what --sample asks for."""
    every = config.getoption("--sample")
    if every < 1:
        raise pytest.UsageError(f"--sample is {every}; expected 1 or more")
    # A case that is named on the command line is wanted, slow or not.
    named = {argument.removeprefix("./") for argument in config.args if "::" in argument}
    chosen = tiers.in_tier(config.getoption("--tier"), [item.nodeid for item in items])
    seen, selected, deselected = Counter(), [], []
    for item in items:
        runs = item.nodeid in chosen or any(item.nodeid.startswith(name) for name in named)
        if runs:
            runs = seen[item.path] % every == 0
            seen[item.path] += 1
        (selected if runs else deselected).append(item)
    config.hook.pytest_deselected(items=deselected)
    items[:] = selected


@pytest.fixture(autouse=True)
def without_cache(request, monkeypatch):
    """Compile in each case but those on a GPU and those of the docs: a case may plant a fault."""
    if request.node.get_closest_marker("gpu") is None and "/docs/" not in str(request.node.path):
        monkeypatch.setenv("MLIR_SMEM_CACHE", "off")


@pytest.fixture
def gpu(monkeypatch):
    """A stand-in for a GPU; it records calls, and fails where a test says so."""
    return stand_in.install(monkeypatch)
