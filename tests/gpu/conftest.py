"""GPU tests: skipped with the reason where there is no GPU; `--record FILE` keeps the results."""

import datetime
import json
import os
import platform
import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest

# Several workers share the GPU: JAX must not take most of its memory at once.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def _why_not() -> str | None:
    try:
        from cuda.core import Device
    except ImportError:
        return "cuda-core is not installed"
    try:
        device = Device()
        device.set_current()
    except Exception as error:
        return f"no GPU: {error}"
    if tuple(device.compute_capability) != (9, 0):
        return f"the GPU is sm_{''.join(map(str, device.compute_capability))}, not sm_90"
    return None


def pytest_collection_modifyitems(config, items):
    folder = f"{Path(__file__).parent}/"
    here = [item for item in items if str(item.path).startswith(folder)]
    reason = _why_not() if here else None
    for item in here:
        item.add_marker(pytest.mark.gpu)
    if reason:
        # Only one test of a file is collected, to report the reason: skipping thousands is slow.
        first = {item.path: item for item in reversed(here)}
        for item in first.values():
            item.add_marker(pytest.mark.skip(reason=reason))
        others = {*here} - {*first.values()}
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=[*others])


class Recorder:
    """Write each test's outcome and measurements to a file."""

    def __init__(self, path):
        self.path = Path(path)
        self.results = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            measured = dict(report.user_properties)
            self.results[report.nodeid] = {"outcome": report.outcome, **measured}

    def pytest_sessionfinish(self, session):
        counts = Counter(result["outcome"] for result in self.results.values())
        record = {
            "date": datetime.date.today().isoformat(),
            "device": _device(),
            "versions": _versions(),
            "command": shlex.join(["pytest", *_portable(sys.argv[1:])]),
            **{outcome: counts[outcome] for outcome in ("passed", "failed", "skipped")},
            "results": dict(sorted(self.results.items())),
        }
        self.path.write_text(json.dumps(record, indent=1) + "\n")


def pytest_configure(config):
    # Only the process that runs or distributes the tests records; its workers report to it.
    if config.getoption("--record", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config.getoption("--record")))


def _portable(arguments: list[str]) -> list[str]:
    """Return the arguments without the folder of the record, which depends on the machine."""
    return [Path(a).name if a.endswith(".json") else a for a in arguments]


def _device() -> str:
    from cuda.core import Device

    return Device().name


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    versions = {"python": platform.python_version()}
    for name in ("torch-mlir", "numba-cuda-mlir", "llvmlite", "cuda-core", "numpy"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed as a package"
    return versions
