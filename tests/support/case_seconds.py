"""A pytest plugin that measures the CPU seconds of each case, for the table of slow cases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import tiers
from benchmarks.record import circumstances

_PROPERTY = "cpu_seconds"


class CaseSeconds:
    """Measures cases; writes the table of slow ones (`--record-slow`), or checks it (`--check-slow`).

    With xdist each worker measures its cases, and the process that they report to writes and checks.

    Attributes:
        seconds: CPU seconds of the cases that passed, by node id.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.seconds: dict[str, float] = {}
        self._unmarked: dict[str, float] = {}
        self._config = config
        self._began = self._shared = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Start to measure."""
        self._began, self._shared = tiers.cpu_seconds(), 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Do not count fixtures of several cases: without this case, another one would make them."""
        began = tiers.cpu_seconds()
        result = yield
        if fixturedef.scope != "function":
            self._shared += tiers.cpu_seconds() - began
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Add the seconds to the last report of a case."""
        report = yield
        if call.when == "teardown":
            seconds = round(tiers.cpu_seconds() - self._began - self._shared, 3)
            report.user_properties.append((_PROPERTY, seconds))
        return report

    def pytest_runtest_logreport(self, report) -> None:
        """Collect the seconds of the cases that passed."""
        measured = dict(report.user_properties)
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = 0.0
        elif _PROPERTY in measured and report.nodeid in self.seconds:
            self.seconds[report.nodeid] = measured[_PROPERTY]

    def pytest_sessionfinish(self, session) -> None:
        """Write the files, and check the table."""
        if hasattr(self._config, "workerinput"):
            return
        if file := self._config.getoption("--seconds"):
            Path(file).write_text(json.dumps(dict(sorted(self.seconds.items())), indent=0) + "\n")
        if self._config.getoption("--record-slow"):
            tiers.write_slow(self.seconds, circumstances())
        if self._config.getoption("--check-slow") and (slow := self._unmarked_cases()):
            self._unmarked = slow
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter) -> None:
        """Name the cases that the table lacks, among the last lines: a log is often cut above them."""
        if self._unmarked:
            terminalreporter.write_line(_message(self._unmarked))

    def _unmarked_cases(self) -> dict[str, float]:
        """Return the CPU seconds of the cases that the table lacks, and that were slow in two runs."""
        limit = tiers.TOLERANCE * tiers.LIMIT
        suspects = tiers.unrecorded_cases(self.seconds, limit)
        if not suspects:
            return {}
        limit *= tiers.slowness()
        with TemporaryDirectory() as folder:
            file = Path(folder) / "seconds.json"
            command = [sys.executable, "-m", "pytest", "--tier=all", f"--seconds={file}", *suspects]
            subprocess.run(command, cwd=self._config.rootpath, capture_output=True, check=False)
            again = json.loads(file.read_text()) if file.exists() else suspects
        return {case: again[case] for case in suspects if again.get(case, 0) > limit}


def _message(slow: dict[str, float]) -> str:
    lines = [f"  {case}: {seconds:.1f} CPU-s" for case, seconds in slow.items()]
    return (
        f"error: {len(slow)} cases took over {tiers.TOLERANCE} times {tiers.LIMIT} CPU-s in two runs, "
        "and tests/tiers/slow.json does not name them; make them cheaper, or run `make slow`:\n"
        + "\n".join(lines)
    )
