"""Which cases each tier of the tests runs, and the CPU seconds from which that follows.

A case is slow if it took more than `LIMIT` CPU seconds when `make slow` wrote `tests/tiers/slow.json`. A
test is long if its other cases took more than `TEST_LIMIT` in all. The `default` tier runs the cases that
are not slow, and of a long test every n-th; `all` runs every case. `smoke` runs the few cases that
`tests/tiers/smoke.json` names, which `tests/support/smoke.py` chooses.

CPU seconds are those of the process and of its children, so a busy machine counts a little more, not
twice as much. What fixtures of more than one test take is not counted: another case would pay it.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from math import ceil
from pathlib import Path
from typing import Any

TIERS = ("smoke", "default", "all")

#: CPU seconds above which a case is slow.
LIMIT = 0.3

#: CPU seconds that the `default` tier may spend on the cases of one test.
TEST_LIMIT = 10.0

#: The cases of this test are tests of their own.
_LIT = "tests/test_lit.py::"

#: How many times the limit a case may take that is not recorded as slow.
TOLERANCE = 3

_FOLDER = Path(__file__).parents[1] / "tiers"
SLOW, SMOKE = _FOLDER / "slow.json", _FOLDER / "smoke.json"

_TICKS = os.sysconf("SC_CLK_TCK")


def slow_cases() -> dict[str, float]:
    """Return the CPU seconds of the slow cases, by node id."""
    return _read(SLOW).get("cases", {})


def long_tests() -> dict[str, int]:
    """Return of the long tests, by name, that one in how many cases is in the default tier."""
    return _read(SLOW).get("tests", {})


def smoke_cases() -> list[str]:
    """Return the node ids of the smoke tier."""
    return _read(SMOKE).get("cases", [])


def _read(table: Path) -> dict[str, Any]:
    """Return a table; an empty one if it has not been written."""
    return json.loads(table.read_text()) if table.exists() else {}


def cpu_seconds() -> float:
    """Return the CPU seconds that this process and its descendants have taken so far."""
    times = os.times()
    total = times.user + times.system + times.children_user + times.children_system
    running = _children(os.getpid())
    while running:
        process = running.pop()
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except OSError:  # it has ended
            continue
        # utime, stime, cutime, cstime (proc(5)); the name before them can hold spaces.
        total += sum(map(int, stat.rpartition(")")[2].split()[11:15])) / _TICKS
        running += _children(process)
    return total


def _children(process: int) -> list[int]:
    """Return the running processes that the main thread of a process has started. Those of its other
    threads, of which libraries make many, count when they have ended."""
    try:
        with open(f"/proc/{process}/task/{process}/children", "rb", buffering=0) as children:
            return [*map(int, children.read().split())]
    except OSError:  # it has ended, or the system has no /proc
        return []


def slowness() -> float:
    """Return how many times slower this machine is now than the one that wrote the table; at least 1."""
    recorded = _read(SLOW).get("calibration", 0)
    return max(1.0, calibration() / recorded) if recorded else 1.0


def calibration() -> float:
    """Return the CPU seconds of a fixed piece of work in Python and NumPy; the best of three."""
    import numpy as np

    def work() -> None:
        counts: dict[int, int] = {}
        for number in range(400_000):
            counts[number & 255] = counts.get(number & 255, 0) + number
        array = np.arange(4096, dtype=np.int64)
        for _ in range(4_000):
            np.flatnonzero(array & 1)

    seconds = []
    for _ in range(3):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return min(seconds)


def write_slow(seconds: dict[str, float], circumstances: dict[str, Any]) -> None:
    """Write the table of slow cases.

    Args:
        seconds: CPU seconds of every case, by node id.
        circumstances: of the record: date, device, versions, command.
    """
    slow = {case: round(s, 2) for case, s in sorted(seconds.items()) if s > LIMIT}
    table = {
        **circumstances,
        "limit": LIMIT,
        "test_limit": TEST_LIMIT,
        "calibration": round(calibration(), 4),
        "measured": len(seconds),
        "tests": _one_in(seconds),
        "cases": slow,
    }
    SLOW.parent.mkdir(exist_ok=True)
    SLOW.write_text(json.dumps(table, indent=1) + "\n")


def _one_in(seconds: dict[str, float]) -> dict[str, int]:
    """Return of each long test that one in how many cases keeps to `TEST_LIMIT`. A test that is in the
    table keeps its number if that is enough: the cases of the default tier change seldom."""
    before = long_tests()
    totals: dict[str, float] = defaultdict(float)
    for case, s in sorted(seconds.items()):
        if s <= LIMIT and not case.startswith(_LIT):
            totals[_test(case)] += s
    return {
        test: max(ceil(total / TEST_LIMIT), before.get(test, 1))
        for test, total in totals.items()
        if total > TEST_LIMIT
    }


def _test(case: str) -> str:
    """Return the name of the test of a case, without the parameters."""
    return case.partition("[")[0]


def unrecorded_cases(seconds: dict[str, float], limit: float) -> dict[str, float]:
    """Return the cases that took longer than a limit and are not in the table of slow cases."""
    recorded = slow_cases()
    return {case: s for case, s in seconds.items() if s > limit and case not in recorded}


def in_tier(tier: str, cases: Iterable[str]) -> set[str]:
    """Return those of some node ids, in the order of the files, that a tier runs."""
    if tier == "all":
        return {*cases}
    if tier == "smoke":
        return {*cases} & {*smoke_cases()}
    slow, one_in = slow_cases(), long_tests()
    places: Counter[str] = Counter()
    chosen = set()
    for case in cases:
        test = _test(case)
        if places[test] % one_in.get(test, 1) == 0 and case not in slow:
            chosen.add(case)
        places[test] += 1
    return chosen
