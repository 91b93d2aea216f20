"""Choose the cases of the smoke tier, and write `tests/tiers/smoke.json`.

    python tests/support/smoke.py [--jobs 2] [--budget 16]

The default tier runs under coverage.py, which tells the lines of the package that each case executes.
Cases are then chosen one by one: the next is the one with the most lines per CPU second that no chosen
case executes, until the budget of CPU seconds is spent. A case that is the first of its file also pays
for reading the file. So a mistake in a line is most likely noticed by the tier, if any case notices it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from functools import reduce
from heapq import heapify, heappop, heappush
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import tiers  # noqa: E402
from benchmarks.record import circumstances  # noqa: E402
from coverage import Coverage, CoverageData  # noqa: E402

#: CPU seconds to read a file of tests, about.
_FILE_SECONDS = 0.06

#: Characters of a node id, at most: some have a whole program as a parameter.
_LONGEST_NAME = 300

#: CPU seconds that a case takes at least: pytest's own.
_CASE_SECONDS = 0.01

_FOLDERS = sorted({path.parent for path in ROOT.glob("*/__init__.py")} - {ROOT / "fuzz"})


class LinesOfCases:
    """A pytest plugin that records the lines which each case executes."""

    def __init__(self, file: str) -> None:
        self._coverage = Coverage(
            data_file=file, data_suffix=True, source=[str(folder) for folder in _FOLDERS]
        )
        self._coverage.start()

    def pytest_runtest_setup(self, item) -> None:
        """Record for this case from now on."""
        self._coverage.switch_context(item.nodeid)

    def pytest_runtest_teardown(self) -> None:
        """Record for no case from now on."""
        self._coverage.switch_context("")

    def pytest_sessionfinish(self) -> None:
        """Save what was recorded."""
        self._coverage.stop()
        self._coverage.save()


def pytest_configure(config) -> None:
    """Record where cases run: in xdist's workers, or here without them."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(LinesOfCases(os.environ["LINES_OF_CASES"]))


def measure_cases(jobs: int) -> tuple[dict[str, int], dict[str, float]]:
    """Run the default tier; return the lines of each case, a bit for each, and its CPU seconds."""
    with TemporaryDirectory() as folder:
        seconds = Path(folder) / "seconds.json"
        command = [sys.executable, "-m", "pytest", "-p", "smoke", f"--seconds={seconds}"]
        command += ["-n", str(jobs), "--dist", "worksteal"]
        environment = dict(os.environ, LINES_OF_CASES=f"{folder}/lines")
        paths = [str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        subprocess.run(command, cwd=ROOT, env=environment, check=False)
        numbers: dict[tuple[str, int], int] = {}
        lines: dict[str, int] = defaultdict(int)
        for file in Path(folder).glob("lines.*"):
            data = CoverageData(str(file))
            data.read()
            for source in data.measured_files():
                for line, cases in data.contexts_by_lineno(source).items():
                    bit = 1 << numbers.setdefault((source, line), len(numbers))
                    for case in cases:
                        lines[case] |= bit
        lines.pop("", None)  # imports
        return lines, json.loads(seconds.read_text())


def choose(
    lines: dict[str, int], seconds: dict[str, float], budget: float
) -> tuple[list[str], float]:
    """Return the chosen cases in the order of the choice, and the share of all lines they execute.

    Args:
        lines: the lines that each case executes, a bit for each.
        seconds: the CPU seconds of each case that may be chosen.
        budget: of the chosen cases together, in CPU seconds.
    """
    every_line = missing = reduce(or_, lines.values(), 0)
    files: set[str] = set()
    chosen: list[str] = []

    def value(case: str) -> float:
        return (lines[case] & missing).bit_count() / cost(case)

    def cost(case: str) -> float:
        reading = 0.0 if _file_of(case) in files else _FILE_SECONDS
        return max(seconds[case], _CASE_SECONDS) + reading

    # A value falls as lines are executed: the largest of old values is mostly still the largest.
    heap = [
        (-value(case), case) for case in seconds if case in lines and len(case) <= _LONGEST_NAME
    ]
    heapify(heap)
    while heap:
        _, case = heappop(heap)
        now = value(case)
        if not now or cost(case) > budget:
            continue
        if heap and now < -heap[0][0]:
            heappush(heap, (-now, case))
            continue
        budget -= cost(case)
        missing &= ~lines[case]
        files.add(_file_of(case))
        chosen.append(case)
    return chosen, 1 - missing.bit_count() / every_line.bit_count()


def _file_of(case: str) -> str:
    return case.partition("::")[0]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes; default: 2")
    parser.add_argument("--budget", type=float, default=16, help="CPU seconds; default: 16")
    options = parser.parse_args()
    lines, seconds = measure_cases(options.jobs)
    chosen, share = choose(lines, seconds, options.budget)
    print(f"{len(chosen)} cases execute {share:.1%} of the lines that the default tier executes")
    table = circumstances() | {"lines": round(share, 3), "cases": sorted(chosen)}
    tiers.SMOKE.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
